export type { EncodedImage } from './embedding-cache.js';
export { imagePrompt, type ImageLayout, imageToken, imageTokensOf } from './image-prompt.js';
export { type GivenImage, type ReadImage, VisionEncoder } from './vision-encoder.js';
