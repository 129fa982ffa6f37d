/** A promise of what may be known already: then it is in `atOnce` as well, and need not be waited for. */
export interface Answer<T> extends Promise<T> {
  readonly atOnce?: { readonly value: T }
}
