import type { Picture } from '../picture/decode-picture.js';

/** A picture in shades of gray: 0 is black, `[height, width]`. */
export interface GrayPicture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** The brightness of a picture. */
export function toGray({ width, height, pixels }: Picture): GrayPicture {
  const gray = new Uint8Array(width * height);
  for (let at = 0, from = 0; at < gray.length; at += 1, from += 3)
    gray[at] = (pixels[from]! * 77 + pixels[from + 1]! * 150 + pixels[from + 2]! * 29) >> 8;
  return { width, height, pixels: gray };
}

/** A picture in another size; each pixel is the mean of those that it covers, or lies between its neighbors. */
export function resizeGray(picture: GrayPicture, width: number, height: number): GrayPicture {
  const [stepX, stepY] = [picture.width / width, picture.height / height];
  if (stepX <= 1.5 && stepY <= 1.5) {
    const box = {
      x: picture.width / 2,
      y: picture.height / 2,
      width: picture.width,
      height: picture.height,
      angle: 0,
    };
    return cropGray(picture, box, width, height);
  }
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const top = Math.floor(y * stepY);
    const bottom = Math.max(top + 1, Math.floor((y + 1) * stepY));
    for (let x = 0; x < width; x += 1) {
      const left = Math.floor(x * stepX);
      const right = Math.max(left + 1, Math.floor((x + 1) * stepX));
      let sum = 0;
      for (let row = top; row < bottom; row += 1)
        for (let column = left; column < right; column += 1)
          sum += picture.pixels[row * picture.width + column]!;
      pixels[y * width + x] = sum / ((bottom - top) * (right - left));
    }
  }
  return { width, height, pixels };
}

/** A rectangle by its middle, its sizes, and its angle to the right in radians, clockwise on the screen. */
export interface TurnedBox {
  x: number;
  y: number;
  width: number;
  height: number;
  angle: number;
}

/** Cuts a turned rectangle out of a picture, in another size. Outside of the picture it is white. */
export function cropGray(picture: GrayPicture, box: TurnedBox, width: number, height: number): GrayPicture {
  const pixels = new Uint8Array(width * height);
  const [cosine, sine] = [Math.cos(box.angle), Math.sin(box.angle)];
  const [stepX, stepY] = [box.width / width, box.height / height];
  for (let y = 0; y < height; y += 1) {
    const down = (y + 0.5) * stepY - box.height / 2;
    for (let x = 0; x < width; x += 1) {
      const right = (x + 0.5) * stepX - box.width / 2;
      const fromX = box.x + right * cosine - down * sine - 0.5;
      const fromY = box.y + right * sine + down * cosine - 0.5;
      pixels[y * width + x] = sample(picture, fromX, fromY);
    }
  }
  return { width, height, pixels };
}

function sample({ width, height, pixels }: GrayPicture, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  if (left < -1 || top < -1 || left >= width || top >= height) return 255;
  const [x1, x2] = [Math.max(0, left), Math.min(width - 1, left + 1)];
  const [y1, y2] = [Math.max(0, top) * width, Math.min(height - 1, top + 1) * width];
  const [right, down] = [x - left, y - top];
  const upper = pixels[y1 + x1]! * (1 - right) + pixels[y1 + x2]! * right;
  const lower = pixels[y2 + x1]! * (1 - right) + pixels[y2 + x2]! * right;
  return upper * (1 - down) + lower * down;
}
