import type { ClientEnvironment } from './client-environment.js'

/** When the cookie was rotated, for all tabs of the origin. No secret is among it. */
export interface RotationNotes {
  /** When the last rotation, or the login, was answered. 0 where it is not known. */
  rotatedAt(): number
  /** When a rotation began whose answer has not been seen, so that the cookie may be a retired one; else 0. */
  unansweredSince(): number
  write(rotatedAt: number, unansweredSince: number): void
}

/** In storage, and in this tab alone where there is none or it fails. */
export function rotationNotes(
  key: string,
  { storage }: Pick<ClientEnvironment, 'storage'>,
): RotationNotes {
  let kept = ''
  const read = (place: 0 | 1): number => {
    try {
      kept = storage?.getItem(key) ?? kept
    } catch {
      // As this tab remembers it.
    }
    return Number(kept.split(',')[place]) || 0
  }
  return {
    rotatedAt: () => read(0),
    unansweredSince: () => read(1),
    write(rotatedAt, unansweredSince) {
      kept = `${rotatedAt},${unansweredSince}`
      try {
        storage?.setItem(key, kept)
      } catch {
        // A quota, or a user who refuses storage.
      }
    },
  }
}
