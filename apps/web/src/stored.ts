import { useSyncExternalStore } from 'react';

/** A value in the browser's storage. Components can subscribe to it. */
export class Stored<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly name: string,
    initial: Value,
    private readonly storage: Storage = window.localStorage,
  ) {
    this.#value = this.#read() ?? initial;
  }

  readonly get = (): Value => this.#value;

  set(value: Value): void {
    this.#value = value;
    try {
      this.storage.setItem(this.name, JSON.stringify(value));
    } catch {
      // If the storage is full or forbidden, the value is lost with the page.
    }
    for (const notify of this.#listeners) notify();
  }

  update(change: (value: Value) => Value): void {
    this.set(change(this.#value));
  }

  readonly subscribe = (notify: () => void): (() => void) => {
    this.#listeners.add(notify);
    return () => this.#listeners.delete(notify);
  };

  #read(): Value | undefined {
    try {
      const text = this.storage.getItem(this.name);
      return text === null ? undefined : (JSON.parse(text) as Value);
    } catch {
      return undefined;
    }
  }
}

/** Hook for a stored value. The component renders again when the value changes. */
export function useStored<Value>(stored: Stored<Value>): Value {
  return useSyncExternalStore(stored.subscribe, stored.get);
}
