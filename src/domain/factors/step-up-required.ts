import { AuthError } from '../../errors/index.js'

/** The refusal of a caller who has to prove a second factor that is younger than `maxAgeMs`. */
export function stepUpRequired(maxAgeMs: number): AuthError {
  return new AuthError('step_up_required', { maxAgeSeconds: Math.floor(maxAgeMs / 1000) })
}
