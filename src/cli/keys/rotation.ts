import { describeKey } from './describe-key.js'
import type { KeyFile } from './key-file.js'

/** How long the steps of a rotation are apart, in milliseconds. */
export interface RotationPolicy {
  /** From the publication of a key until it may sign: each process and each cache of the JWKS has it by then. */
  readonly publishedFor: number
  /** From the last signature of a key until it is dropped: the last token that it signed has expired by then. */
  readonly keptFor: number
}

/** What a rotation does now; `until` is the time before which nothing may be done. */
export type RotationStep =
  | { readonly step: 'publish' }
  | { readonly step: 'date' }
  | { readonly step: 'wait'; readonly until: number }
  | { readonly step: 'promote' }

export function rotationStep(
  { signing, dates }: KeyFile,
  now: number,
  { publishedFor }: RotationPolicy,
): RotationStep {
  if (signing.next === undefined) return { step: 'publish' }
  const { madeAt } = dates[describeKey(signing.next).kid] ?? {}
  // It may have been put there a moment ago, and a cache of the JWKS would not have it yet.
  if (madeAt === undefined) return { step: 'date' }
  const until = madeAt + publishedFor
  return until > now ? { step: 'wait', until } : { step: 'promote' }
}

/** With a new key as `next`: published, and not signing yet. */
export function withNext(file: KeyFile, pem: string, now: number): KeyFile {
  const dates = { ...file.dates, [describeKey(pem).kid]: { madeAt: now } }
  return dated({ ...file, signing: { ...file.signing, next: pem }, dates }, now)
}

/** With the date of now for each key of which the file does not say since when it waits, or signs no more. */
export function dated(file: KeyFile, now: number): KeyFile {
  const { next, previous = [] } = file.signing
  const dates = { ...file.dates }
  if (next !== undefined) {
    const { kid } = describeKey(next)
    dates[kid] ??= { madeAt: now }
  }
  for (const { kid } of previous.map(describeKey)) {
    dates[kid] = { retiredAt: now, ...(dates[kid] ?? { madeAt: now }) }
  }
  return { ...file, dates }
}

/** `next` signs, the key before it verifies by its public half, and those that are out of use are gone. */
export function promoted(given: KeyFile, now: number, { keptFor }: RotationPolicy): KeyFile {
  const file = dated(given, now)
  const { current, next = current, previous = [] } = file.signing
  const retired = describeKey(current)
  const retiredAt = (pem: string) => file.dates[describeKey(pem).kid]?.retiredAt ?? now
  const kept = previous.filter((pem) => retiredAt(pem) + keptFor > now)
  const madeAt = file.dates[retired.kid]?.madeAt ?? now
  return withDatesOfKeys({
    ...file,
    signing: { current: next, previous: [retired.publicPem, ...kept] },
    dates: { ...file.dates, [retired.kid]: { madeAt, retiredAt: now } },
  })
}

/** After a theft: the new key alone, so that what any other key signed is refused. */
export function replaced(file: KeyFile, pem: string, now: number): KeyFile {
  const dates = { ...file.dates, [describeKey(pem).kid]: { madeAt: now } }
  return withDatesOfKeys({ ...file, signing: { current: pem }, dates })
}

/** The same for configuration keys: a key that was added after the first one waits behind it. */
export function configRotationStep(
  file: KeyFile,
  now: number,
  { publishedFor }: RotationPolicy,
): Exclude<RotationStep, { readonly step: 'date' }> {
  const waiting = waitingConfigKey(file)
  if (waiting === undefined) return { step: 'publish' }
  const until = madeAtOf(file, waiting) + publishedFor
  return until > now ? { step: 'wait', until } : { step: 'promote' }
}

/** With a new key behind the others, which decrypts and does not encrypt yet. */
export function withConfigKey(file: KeyFile, key: ConfigKey, now: number): KeyFile {
  const [first] = file.configKeys
  const dates = { ...file.dates }
  if (first !== undefined) dates[first.id] ??= { madeAt: now }
  // Also where the clock is behind that of the machine that made the first one.
  const madeAt = Math.max(now, dates[first?.id ?? '']?.madeAt ?? now)
  return {
    ...file,
    configKeys: [...file.configKeys, key],
    dates: { ...dates, [key.id]: { madeAt } },
  }
}

/** The key that waits encrypts; those before it go on to decrypt. */
export function withConfigKeyFirst(file: KeyFile, now: number): KeyFile {
  const [first] = file.configKeys
  const waiting = waitingConfigKey(file)
  if (first === undefined || waiting === undefined) return file
  const madeAt = file.dates[first.id]?.madeAt ?? now
  return {
    ...file,
    configKeys: [waiting, ...file.configKeys.filter((key) => key !== waiting)],
    dates: { ...file.dates, [first.id]: { madeAt, retiredAt: now } },
  }
}

type ConfigKey = KeyFile['configKeys'][number]

const madeAtOf = ({ dates }: KeyFile, { id }: ConfigKey): number => dates[id]?.madeAt ?? 0

/**
 * It is no older than the first one, and never encrypted. One without a date was put there by hand, to decrypt; and behind
 * a first one without a date, none waits: that one may have been put there by hand just now.
 */
function waitingConfigKey({ configKeys, dates }: KeyFile): ConfigKey | undefined {
  const [first, ...others] = configKeys
  const since = dates[first?.id ?? '']?.madeAt
  if (since === undefined) return undefined
  return others.findLast(({ id }) => {
    const { madeAt, retiredAt } = dates[id] ?? {}
    return madeAt !== undefined && retiredAt === undefined && madeAt >= since
  })
}

function withDatesOfKeys(file: KeyFile): KeyFile {
  const { current, next, previous = [] } = file.signing
  const pems = [current, ...(next === undefined ? [] : [next]), ...previous]
  const ids = new Set([
    ...pems.map((pem) => describeKey(pem).kid),
    ...file.configKeys.map(({ id }) => id),
  ])
  const dates = Object.fromEntries(Object.entries(file.dates).filter(([id]) => ids.has(id)))
  return { ...file, dates }
}
