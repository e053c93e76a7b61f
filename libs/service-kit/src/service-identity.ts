/** Who a service is, for health, discovery, metrics and logs. */
export interface ServiceIdentity {
  /** Short name, also the NATS queue group, e.g. `embedding`. */
  service: string;
  title: string;
  description: string;
}

/** Injection token of the {@link ServiceIdentity}. */
export const serviceIdentity = Symbol('serviceIdentity');
