/** Thrown at boot; its message names the variable. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}
