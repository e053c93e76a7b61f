export {};

declare global {
  /** The part of the WebAssembly API that is used here; TypeScript has it only among the types of browsers. */
  namespace WebAssembly {
    type Module = object;
    class Instance {
      constructor(module: Module, imports: Record<string, Record<string, unknown>>);
      readonly exports: Record<string, unknown>;
    }
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}
