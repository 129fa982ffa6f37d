import type { Predicate } from './judged.js'

/** I11: no password, token or link is written down, as it is or in base64. */
export const noSecrets: Predicate = ({ secrets, written }) => {
  const all = [...secrets.values()].flatMap((texts) => [...texts])
  const isWritten = (secret: string): boolean =>
    [secret, Buffer.from(secret).toString('base64url')].some((form) => written.includes(form))
  const found = all.filter(isWritten)
  return { premises: all.length, violations: found.map((one) => `written: ${one.slice(0, 12)}…`) }
}
