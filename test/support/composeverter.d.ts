/** The part in use of a library that comes without types. */
declare module 'composeverter' {
  /** The JSON Schema of the Compose specification. */
  export function getDockerComposeSchemaWithoutFormats(): unknown;
}
