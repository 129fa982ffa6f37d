import type { ConfigKey, SecretBox } from '../crypto/secret-box.js'
import { openCollections } from '../domain/context/open-collections.js'
import { totpPlace } from '../domain/factors/totp-factors.js'
import type { Collections } from '../model/collections.js'
import type { TotpFactor } from '../model/factors.js'
import type { Finding } from '../ports/inspection.js'
import type { Store } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'

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

interface Deps {
  readonly store: Store
  readonly prefix: string
  readonly secretBox: SecretBox
  readonly surfaces: readonly Surface[]
}

const check = 'encryption'
/** Accounts looked at from each end of the list: no index finds the secrets of a key whose id is not known. */
const accounts = 500
/** How many secrets are read at once: the host is using the database too. */
const batch = 50

/** Secrets of authenticator apps that no key opens, and those that a rotation has left behind. */
export async function totpFindings(deps: Deps): Promise<readonly Finding[]> {
  const found = deps.surfaces.map((surface) => surfaceFindings(deps, surface))
  return (await Promise.all(found)).flat()
}

async function surfaceFindings(
  { store, prefix, secretBox }: Deps,
  surface: Surface,
): Promise<readonly Finding[]> {
  const { users, totpFactors } = openCollections(store, surface, prefix)
  const opens = ({ sealedSecret, userId }: TotpFactor) =>
    secretBox.open(sealedSecret, totpPlace(surface, userId)) !== null
  const [, ...older] = secretBox.keyIds
  const waiting = await Promise.all(
    older.map(async (keyId) => {
      const page = await totpFactors.find({ keyId }, { limit: batch })
      return page.some((factor) => factor.confirmed && opens(factor)) ? [keyId] : []
    }),
  )
  const closed = (await someFactors({ users, totpFactors })).filter((factor) => !opens(factor))
  return [
    ...[...new Set(closed.map(({ keyId }) => keyId))].map((keyId) => lost(surface, keyId)),
    ...waiting.flat().map((keyId) => left(surface, keyId)),
  ]
}

/** The confirmed apps of the oldest and of the newest people. */
async function someFactors({
  users,
  totpFactors,
}: Pick<Collections, 'users' | 'totpFactors'>): Promise<readonly TotpFactor[]> {
  const ends = await Promise.all([
    users.find({ kind: '' }, { limit: accounts }),
    users.find({ kind: '' }, { limit: accounts, newestFirst: true }),
  ])
  const ids = [...new Set(ends.flat().map(({ id }) => id))]
  const found: TotpFactor[] = []
  for (let at = 0; at < ids.length; at += batch) {
    const read = ids.slice(at, at + batch).map((id) => totpFactors.get(id))
    found.push(...(await Promise.all(read)).flatMap((factor) => factor ?? []))
  }
  return found.filter(({ confirmed }) => confirmed)
}

function lost(surface: Surface, keyId: string): Finding {
  return {
    check,
    problem: `No key of configKeys with the id "${keyId}" opens secrets of authenticator apps (${surface}): their users cannot sign in by a code.`,
    remedy: `Give the key "${keyId}" back, behind the first one, or call users.resetMfa and have these users enroll again.`,
  }
}

function left(surface: Surface, keyId: string): Finding {
  return {
    check,
    problem: `Secrets of authenticator apps (${surface}) are under the key "${keyId}", which is not the first of configKeys: the rotation is not finished.`,
    remedy: 'Call auth.config.reencrypt() once each process has the first key.',
  }
}
