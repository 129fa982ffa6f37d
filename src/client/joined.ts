/** Work that is done once for all who ask while it goes on, with what the first of them asks for. */
export function joined<T, A extends readonly unknown[]>(
  work: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  let running: Promise<T> | null = null
  return (...args) => {
    running ??= work(...args).finally(() => {
      running = null
    })
    return running
  }
}
