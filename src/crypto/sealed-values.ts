import type { SecretBox } from './secret-box.js'

type Values = Readonly<Record<string, string>>

/** The environment whose values are meant. */
export interface SealedPlace {
  readonly module: string
  readonly environment: string
}

export interface OpenedValues {
  /** The values with the secrets that could be opened in plain text, without the others. */
  readonly values: Values
  /** The keys of secrets that are set but do not decrypt: an error of that field, never ''. */
  readonly unreadable: readonly string[]
}

export interface ReencryptionPlan {
  /** New texts of the keys that are not under the current key yet; the others are left out. */
  readonly texts: Values
  /** The keys that no key of the ring opens: they stay as they are. */
  readonly unreadable: readonly string[]
}

type SecretTest = (key: string, text: string) => boolean

/** Encrypts those of `keys` that are secret; all other texts stay as they are. */
export function sealValues(
  values: Values,
  keys: readonly string[],
  isSecret: SecretTest,
  box: SecretBox,
  place: SealedPlace,
): Values {
  const plain = new Set(keys)
  const entries = Object.entries(values).map(([key, text]) =>
    plain.has(key) && isSecret(key, text) ? [key, box.seal(text, { ...place, key })] : [key, text],
  )
  return Object.fromEntries(entries)
}

/** Decrypts every secret of an environment. */
export function openValues(
  values: Values,
  isSecret: SecretTest,
  box: SecretBox,
  place: SealedPlace,
): OpenedValues {
  const unreadable: string[] = []
  const entries = Object.entries(values).flatMap(([key, text]): [string, string][] => {
    if (!isSecret(key, text)) return [[key, text]]
    const secret = box.open(text, { ...place, key })
    if (secret !== null) return [[key, secret]]
    unreadable.push(key)
    return []
  })
  return { values: Object.fromEntries(entries), unreadable }
}

/**
 * What a change of the encryption key asks of an environment: write `texts` by a compare-and-set on
 * its revision, then drop the old key. Nothing to write means that it is done.
 */
export function planReencryption(
  values: Values,
  isSecret: SecretTest,
  box: SecretBox,
  place: SealedPlace,
): ReencryptionPlan {
  const old = Object.entries(values).filter(
    ([key, text]) => isSecret(key, text) && !box.isCurrent(text),
  )
  const opened = old.map(([key, text]) => ({ key, secret: box.open(text, { ...place, key }) }))
  return {
    texts: Object.fromEntries(
      opened.flatMap(({ key, secret }) =>
        secret === null ? [] : [[key, box.seal(secret, { ...place, key })]],
      ),
    ),
    unreadable: opened.flatMap(({ key, secret }) => (secret === null ? [key] : [])),
  }
}
