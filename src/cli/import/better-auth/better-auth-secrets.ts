import type { Call } from '../../frame/command.js'
import { Refusal } from '../../frame/refusal.js'
import { decryptBetterAuth } from './better-auth-secret.js'

/** Reads what better-auth encrypted. */
export interface BetterAuthSecrets {
  /** Null for what none of the secrets opens. */
  decrypt(text: string): string | null
}

/**
 * With the secrets that better-auth itself reads: `BETTER_AUTH_SECRET`, and `BETTER_AUTH_SECRETS` as `2:new,1:old`. Null
 * where there is neither. Throws `Refusal` for a list of another form.
 */
export function betterAuthSecrets({ env }: Pick<Call, 'env'>): BetterAuthSecrets | null {
  const plain = env['BETTER_AUTH_SECRET'] ?? ''
  const versions = versionsOf(env['BETTER_AUTH_SECRETS'] ?? '')
  if (plain === '' && versions.size === 0) return null
  return {
    decrypt(text) {
      const [, version, cipher = ''] = /^\$ba\$(\d{1,9})\$([0-9a-f]+)$/.exec(text) ?? []
      const secret = version === undefined ? plain : (versions.get(Number(version)) ?? '')
      return secret === '' ? null : decryptBetterAuth(secret, version === undefined ? text : cipher)
    },
  }
}

function versionsOf(list: string): ReadonlyMap<number, string> {
  const entries = list === '' ? [] : list.split(',').map((entry) => entry.trim())
  return new Map(
    entries.map((entry) => {
      const [, version, secret = ''] = /^(\d{1,9}):(.+)$/.exec(entry) ?? []
      if (version !== undefined) return [Number(version), secret.trim()]
      throw new Refusal(
        'BETTER_AUTH_SECRETS must be as better-auth reads it: 2:secret,1:secret.',
        2,
      )
    }),
  )
}
