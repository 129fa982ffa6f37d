import { LoadError } from './load-error.js'

/**
 * What `load` gives: a module that is loaded at its first use, once a process. Rejects with a `LoadError`
 * that names the part for the host's log; the next call tries again.
 */
export async function loadPart<T>(part: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const remedy = 'deploy all files of postern, and the packages it depends on'
    throw new LoadError(`${part} could not be loaded: ${remedy}`, { cause })
  }
}
