export const runtimePackages: string[];
export function packagesWithDependencies(modules: string, names?: string[]): string[];
export function copyRuntimePackages(modules: string, folder: string): void;
