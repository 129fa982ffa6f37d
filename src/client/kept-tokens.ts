import type { Json } from './exchange.js'
import { ownLock } from './own-lock.js'
import { storageFailure } from './postern-error.js'

/**
 * Where an app keeps one text between its starts: the keychain of iOS, the keystore of Android, a file that only
 * this user can read. The text is a secret.
 */
export interface TokenStorage {
  /** The text that was written last; null where there is none. May reject. */
  read(): Promise<string | null>
  /**
   * Keeps `text` in place of the last one, whole or not at all; null removes it. Resolves once the text outlives the
   * process. May reject, and has then kept the last one.
   */
  write(text: string | null): Promise<void>
}

/** What an app keeps. */
export interface Kept {
  readonly refreshToken?: string
  /** When a rotation of the token began whose reply was not kept, in milliseconds since the epoch. */
  readonly rotatingSince?: number
  readonly recognitionId?: string
  readonly deviceToken?: string
  readonly registrationKey?: string
  readonly signInKey?: string
  readonly codeKey?: string
}

/** What a browser would keep as cookies. */
const besides = ['recognitionId', 'deviceToken', 'registrationKey', 'signInKey', 'codeKey'] as const

export interface KeptTokens {
  /** Replaces what is kept by what `change` makes of it, and resolves with that once it is written. */
  update(change: (kept: Kept) => Kept): Promise<Kept>
}

const version = 1

/** The members of a reply that an app keeps beside the tokens. */
export function besidesOf(reply: Json): Kept {
  return Object.fromEntries(
    besides.flatMap((name) => (typeof reply[name] === 'string' ? [[name, reply[name]]] : [])),
  )
}

/**
 * What is in storage for the API below `base`. What was written for another is not read, so that no token is sent
 * to where it does not come from. Rejects with the client's errors alone.
 */
export function keptTokens(storage: TokenStorage, base: string): KeptTokens {
  const turn = ownLock()

  function read(text: string | null): Kept {
    try {
      const { v, base: own, refreshToken, rotatingSince, ...more }: Json = JSON.parse(text ?? '{}')
      if (v !== version || own !== base) return {}
      return {
        ...besidesOf(more),
        ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
        ...(typeof rotatingSince === 'number' ? { rotatingSince } : {}),
      }
    } catch {
      // Not this client's.
      return {}
    }
  }

  const textOf = (kept: Kept) =>
    Object.keys(kept).length === 0 ? null : JSON.stringify({ v: version, base, ...kept })

  return {
    update: (change) =>
      turn(async () => {
        try {
          const kept = read(await storage.read())
          const next = change(kept)
          if (JSON.stringify(next) !== JSON.stringify(kept)) await storage.write(textOf(next))
          return next
        } catch (error) {
          throw storageFailure(error)
        }
      }),
  }
}
