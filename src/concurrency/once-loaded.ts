/** Gives what the first call of `load` gave; after a failure, the next call loads again. */
export function onceLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null
  return () => {
    if (loading === null) {
      const mine = load()
      loading = mine
      mine.catch(() => {
        loading = null
      })
    }
    return loading
  }
}
