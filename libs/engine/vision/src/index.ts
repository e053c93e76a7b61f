export type { EncodedImage } from './embedding-cache.js';
export { imagePrompt, type ImageLayout, imageToken, imageTokensOf } from './image-prompt.js';
export { type GivenImage, type ReadImage, VisionEncoder } from './vision-encoder.js';
export { cropGray, type GrayPicture, type TurnedBox } from './ocr/gray-picture.js';
export { findOcrModels, howToGetOcrModels } from './ocr/ocr-models.js';
export { type PictureLine, type PictureText, PictureTextReader } from './ocr/read-picture-text.js';
export { decodePicture, type Picture } from './picture/decode-picture.js';
