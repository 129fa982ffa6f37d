import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { mapTexts } from '../engine/configuration/stored-value.js'
import { withoutEnding } from '../engine/text.js'
import { SecretKeyError } from '../errors/index.js'
import type { Random } from '../ports/host.js'
import { decodeSegment } from './token-format.js'

/** A key that encrypts configuration secrets. */
export interface ConfigKey {
  /** Names the key in the texts it encrypts: letters, digits, `-` and `_`, at most 32 characters. */
  readonly id: string
  /** 32 random bytes in base64. */
  readonly key: string
}

/** The place of a secret. A text encrypted for one place decrypts at no other. */
export interface SecretPlace {
  readonly module: string
  readonly environment: string
  /** The full key, such as `hooks.gmail-eu.token`. */
  readonly key: string
}

/** Encrypts and decrypts configuration secrets: AES-256-GCM (NIST SP 800-38D). */
export interface SecretBox {
  /** Encrypts. Every call gives a new text, even for the same secret. An empty text stays empty. */
  seal(secret: string, place: SecretPlace): string
  /**
   * Decrypts. Null for a text of another place or key, for a changed text and for one that is not
   * encrypted. An empty text stays empty.
   */
  open(sealed: string, place: SecretPlace): string | null
  /** The ids of the ring's keys; the first one encrypts. */
  readonly keyIds: readonly [string, ...string[]]
  /** True if the first key of the ring encrypted the text; true for the empty text. */
  isCurrent(sealed: string): boolean
}

const scheme = 'enc:v1:'
const nonceBytes = 12
const tagBytes = 16
const keyBytes = 32

/**
 * A box for a ring of keys: the first encrypts, all of them decrypt. Nonces come from `random`, so
 * replace a key before it has encrypted 2^32 texts (NIST SP 800-38D §8.3). Throws a `SecretKeyError`
 * for an empty ring, a repeated or invalid id, and a key that is not 32 bytes in base64.
 *
 * @example
 * import { randomBytes } from 'node:crypto'
 * import { secretBox } from 'postern/config/secrets'
 *
 * const ring = [{ id: '2026', key: randomBytes(32).toString('base64') }]
 * const box = secretBox(ring, { bytes: (length) => randomBytes(length) })
 * const place = { module: 'mail', environment: 'production', key: 'password' }
 * const stored = box.seal('a secret', place)
 * const secret = box.open(stored, place) // 'a secret'
 */
export function secretBox(keys: readonly ConfigKey[], random: Random): SecretBox {
  const ring = new Map<string, KeyObject>()
  for (const { id, key } of keys) {
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) {
      // The message does not repeat the id: it may be the key, in the wrong place.
      throw new SecretKeyError('', 'needs an id of 1 to 32 letters, digits, "-" or "_"')
    }
    if (ring.has(id)) throw new SecretKeyError(id, 'is in the ring twice; give each key its own id')
    ring.set(id, importKey(id, key))
  }
  const [current] = ring
  if (current === undefined) throw new SecretKeyError('', 'is missing; the ring needs one at least')
  const [currentId, currentKey] = current
  const currentPrefix = `${scheme}${currentId}:`

  const [, ...older] = ring.keys()

  return {
    keyIds: [currentId, ...older],
    seal(secret, place) {
      if (secret === '') return ''
      const nonce = random.bytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', currentKey, nonce, { authTagLength: tagBytes })
      cipher.setAAD(associatedData(place))
      const parts = [cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `${currentPrefix}${base64url(nonce)}:${base64url(Buffer.concat(parts))}`
    },
    open(sealed, place) {
      if (sealed === '') return ''
      if (!sealed.startsWith(scheme)) return null
      const idEnd = sealed.indexOf(':', scheme.length)
      const nonceEnd = sealed.indexOf(':', idEnd + 1)
      if (idEnd < 0 || nonceEnd < 0) return null
      const key = ring.get(sealed.slice(scheme.length, idEnd))
      const nonce = decodeSegment(sealed.slice(idEnd + 1, nonceEnd))
      // One spelling alone passes, so that no changed character of a stored text goes unnoticed. A
      // further colon ends up in the body, where no such spelling has one.
      const body = decodeSegment(sealed.slice(nonceEnd + 1))
      if (key === undefined || nonce === null || body === null) return null
      if (nonce.length !== nonceBytes || body.length < tagBytes) return null
      return decrypt(key, nonce, body, place)
    },
    isCurrent: (sealed) => sealed === '' || sealed.startsWith(currentPrefix),
  }
}

function decrypt(key: KeyObject, nonce: Buffer, body: Buffer, place: SecretPlace): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(associatedData(place))
  decipher.setAuthTag(body.subarray(-tagBytes))
  const text = decipher.update(body.subarray(0, -tagBytes))
  try {
    decipher.final()
  } catch {
    return null
  }
  return text.toString('utf8')
}

/** No name of a module, an environment or a key has a bar in it. */
function associatedData({ module, environment, key }: SecretPlace): Buffer {
  return Buffer.from(`${module}|${environment}|${key}`)
}

/** Without it a mistyped key would be cut or padded into another, weaker one. */
function importKey(id: string, text: string): KeyObject {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64')
  const spelled = [bytes.toString('base64'), bytes.toString('base64url')]
  const isBase64 = spelled.some(
    (one) => withoutEnding(one, '=') === withoutEnding(String(text), '='),
  )
  if (bytes.length !== keyBytes || !isBase64) {
    throw new SecretKeyError(
      id,
      `must be ${keyBytes} random bytes in base64; "openssl rand -base64 ${keyBytes}" makes one`,
    )
  }
  return createSecretKey(bytes)
}

function base64url(bytes: Uint8Array): string {
  if (bytes instanceof Buffer) return bytes.toString('base64url')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

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
