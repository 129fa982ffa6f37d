/** Work that is begun before it is known to be needed: its failure counts where it is awaited, and nowhere else. */
export function ahead<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {})
  return work
}
