import { AuthError } from '../../errors/index.js'

/** Clients keep their tokens on this code and try again; any other 503 would say less. */
export async function enforced<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AuthError && error.code === 'service_unavailable') {
      throw new AuthError('session_enforcement_unavailable', { cause: error })
    }
    throw error
  }
}
