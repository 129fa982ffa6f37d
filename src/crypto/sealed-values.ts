import { mapTexts } from '../engine/configuration/stored-value.js'
import type { SecretBox } from './secret-box.js'

type Values = Readonly<Record<string, string>>

/** The environment to which values belong. Part of what each secret is bound to. */
export interface SealedPlace {
  readonly module: string
  readonly environment: string
}

/** The decrypted values of an environment. */
export interface OpenedValues {
  /** All values, with secrets in plain text. Secrets that do not decrypt are left out. */
  readonly values: Values
  /** The keys of secrets that are set but do not decrypt. Treat each as an error, never as ''. */
  readonly unreadable: readonly string[]
}

/** The writes that move an environment to the current key. */
export interface ReencryptionPlan {
  /** New texts for the secrets that are not encrypted under the current key yet. */
  readonly texts: Values
  /** The keys of secrets that no key of the ring opens. Their texts stay as they are. */
  readonly unreadable: readonly string[]
}

type SecretTest = (key: string, text: string) => boolean

/** A plan's values, with those of `changed` that are secret encrypted; the same object where none is. */
export function sealValues(
  { values, changed }: { readonly values: Values; readonly changed: readonly string[] },
  isSecret: SecretTest,
  box: SecretBox,
  place: SealedPlace,
): Values {
  const plain = new Set(
    changed.filter((key) => Object.hasOwn(values, key) && isSecret(key, values[key] ?? '')),
  )
  if (plain.size === 0) return values
  return mapTexts(values, (key, text) => {
    return plain.has(key) ? box.seal(text, { ...place, key }) : text
  })
}

/** Decrypts every secret of an environment. Never throws for a text that does not decrypt. */
export function openValues(
  values: Values,
  isSecret: SecretTest,
  box: SecretBox,
  place: SealedPlace,
): OpenedValues {
  const unreadable: string[] = []
  const opened = mapTexts(values, (key, text) => {
    const plain = isSecret(key, text) ? box.open(text, { ...place, key }) : text
    if (plain === null) unreadable.push(key)
    return plain
  })
  return { values: opened, unreadable }
}

/**
 * Plans a change of the encryption key for one environment: write `texts` by a compare-and-set on its
 * revision, then drop the old key. An empty `texts` means that the environment is done.
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
