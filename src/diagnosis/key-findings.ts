import type { ConfigKey } from '../crypto/secret-box.js'
import type { Finding } from '../ports/inspection.js'

/** `warnings` are those of the key ring: one for each key that is shorter than recommended. */
export function keyFindings(warnings: readonly string[]): readonly Finding[] {
  return warnings.map((warning) => {
    const [problem = warning, remedy = 'rotate to a longer key'] = warning.split('; ')
    return { check: 'keys', problem: `${problem}.`, remedy: `${capital(remedy)}.` }
  })
}

/** 32 random bytes have thirty different ones, give or take two. */
const fewestDifferent = 20

/** Keys that were typed or counted up rather than drawn. Their texts are never repeated. */
export function configKeyFindings(keys: readonly ConfigKey[]): readonly Finding[] {
  return keys.filter(isGuessable).map(({ id }) => ({
    check: 'encryption',
    problem: `The configuration key "${id}" does not look random: it repeats itself, or it is readable text.`,
    remedy:
      'Put a key of "openssl rand -base64 32" behind it in configKeys of every process, then before it, call auth.config.reencrypt(), and take it out.',
  }))
}

function isGuessable({ key }: ConfigKey): boolean {
  const bytes = Buffer.from(key, 'base64')
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
  return isText || new Set(bytes).size < fewestDifferent
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
