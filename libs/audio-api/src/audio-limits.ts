import { booleanSchema, bytes, milliseconds } from '#service-kit';

/** Limits of an audio file, and of fetching it. */
export interface AudioLimits {
  maxBytes: number;
  linkTimeoutMs: number;
  /** URLs may point to private and loopback addresses. */
  allowPrivateLinks: boolean;
}

/** Injection token of the {@link AudioLimits}. */
export const audioLimits = Symbol('audioLimits');

/** The variables that set the {@link AudioLimits}. */
export const audioEnvironmentShape = {
  /** Maximum bytes of one audio file, uploaded or fetched. */
  AUDIO_LIMIT_BYTES: bytes('held').default(100 * 1024 * 1024),
  LINK_TIMEOUT_MS: milliseconds(100).default(20_000),
  /** Lets links point to private and loopback addresses, for an intranet whose users are trusted. */
  ALLOW_PRIVATE_LINKS: booleanSchema.default(false),
};

export function audioLimitsOf(environment: {
  AUDIO_LIMIT_BYTES: number;
  LINK_TIMEOUT_MS: number;
  ALLOW_PRIVATE_LINKS: boolean;
}): AudioLimits {
  return {
    maxBytes: environment.AUDIO_LIMIT_BYTES,
    linkTimeoutMs: environment.LINK_TIMEOUT_MS,
    allowPrivateLinks: environment.ALLOW_PRIVATE_LINKS,
  };
}
