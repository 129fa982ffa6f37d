import type { Plant } from './plant.js'

const verify = 'src/crypto/verify-token.ts'
const idToken = 'src/identity-providers/id-token.ts'
const passkeys = 'src/crypto/webauthn-checks.ts'

/** A parser that takes more than it should. */
const plant = (name: string, file: string, find: string, replace: string, test: string): Plant => ({
  name,
  edits: [{ file, find, replace }],
  tests: [`test/fuzz/${test}.test.ts`],
})

export const parserPlants: readonly Plant[] = [
  plant(
    'an address keeps what stands before its first at sign',
    'src/engine/email.ts',
    'return valid && local.test(email.slice(0, at)) ? email : null',
    'return valid ? email : null',
    'addresses',
  ),
  plant(
    'a redirect target may go on where the listed one ends',
    'src/engine/redirect.ts',
    'target.uri === uri &&',
    'uri.startsWith(target.uri) &&',
    'addresses',
  ),
  plant(
    'a duration beyond a safe integer is read',
    'src/engine/duration.ts',
    'return Number.isSafeInteger(ms) ? ms : null',
    'return ms',
    'durations',
  ),
  plant(
    'an argon2 hash may cost any number of passes',
    'src/crypto/phc.ts',
    'timeCost <= maxTimeCost &&',
    'timeCost >= 0 &&',
    'hashes',
  ),
  plant(
    'a tag of one byte is a hash of scrypt or PBKDF2',
    'src/crypto/hash-text.ts',
    'tag.length < 16',
    'tag.length < 1',
    'hashes',
  ),
  plant(
    'a slug may have a dot in it',
    'src/engine/configuration/slug.ts',
    'const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/',
    'const slugForm = /^[a-z0-9]+([-.][a-z0-9]+)*$/',
    'record-list-keys',
  ),
  plant(
    'a locator looks for the end of a prefix alone',
    'src/engine/configuration/config-keys.ts',
    "const name = key.slice(prefix.length)\n  if (name === '__label')",
    "const name = key.slice(key.lastIndexOf('.') + 1)\n  if (name === '__label')",
    'record-list-keys',
  ),
  plant(
    'an element that a roster names twice is there twice',
    'src/engine/configuration/config-keys.ts',
    "[...new Set(text.split(','))]",
    "text.split(',')",
    'record-list-keys',
  ),
  plant(
    'what a client writes before the proxy counts as its address',
    'src/http/client-ip.ts',
    'while (isTrusted(client, proxies)) {',
    'while (proxies < 2) {',
    'forwarded',
  ),
  plant(
    'the first forwarded host counts, which the client wrote',
    'src/http/client-ip.ts',
    'hosts[Math.max(0, hosts.length - proxies)]',
    'hosts[0]',
    'forwarded',
  ),
  plant(
    'of two cookies of one name the first counts',
    'src/http/cookies.ts',
    'return values.length === 1 && values[0] ? values[0] : null',
    'return values[0] || null',
    'cookies',
  ),
  plant(
    'of two cookies of one flow the last counts',
    'src/http/cookies.ts',
    "found.has(name) || key === '' ? null : { mode, flow, key }",
    "key === '' ? null : { mode, flow, key }",
    'cookies',
  ),
  plant(
    'a JSON body may have a member twice',
    'src/http/request/parse-json.ts',
    'if (membersWritten(text) === membersIn(value)) return value',
    'if (membersWritten(text) >= membersIn(value)) return value',
    'bodies',
  ),
  plant(
    'a form may have a member twice',
    'src/http/request/parse-form.ts',
    'if (Object.keys(form).length === members.length) return form',
    'if (Object.keys(form).length <= members.length) return form',
    'bodies',
  ),
  plant(
    'the secret of a Basic header ends at its second colon',
    'src/engine/client-authentication.ts',
    'formDecoded(text.slice(at + 1))',
    "formDecoded(text.split(':')[1] ?? '')",
    'authorization',
  ),
  plant(
    'a Bearer header may name more than one token',
    'src/domain/authorization/access.ts',
    'return authorization.slice(start) || null',
    "return authorization.slice(start).split(',')[0] || null",
    'authorization',
  ),
  plant(
    'a refresh token opens what an access token does',
    verify,
    'header.typ !== typ || signature === null',
    'signature === null',
    'tokens',
  ),
  plant(
    'the signature of a token is not looked at',
    verify,
    "if (!verify('RSA-SHA256', signed, header.key, signature)) return null",
    "verify('RSA-SHA256', signed, header.key, signature)",
    'tokens',
  ),
  plant(
    'a token with one audience of ours among others is taken',
    verify,
    'if (audience === undefined) return null',
    'if (audience === undefined) continue',
    'tokens',
  ),
  plant(
    'an ID token of another sign-in is taken',
    idToken,
    "if (payload['nonce'] !== nonce) throw",
    "if (typeof payload['nonce'] !== 'string') throw",
    'id-tokens',
  ),
  plant(
    'an ID token for several applications is taken by each',
    idToken,
    'if (isOthers || (Array.isArray(aud) && aud.length !== 1 && azp === undefined)) {',
    'if (isOthers) {',
    'id-tokens',
  ),
  plant(
    'an ID token that was made for an earlier sign-in is taken',
    idToken,
    'maxTokenAge: maxAgeSeconds,',
    'maxTokenAge: 24 * 60 * maxAgeSeconds,',
    'id-tokens',
  ),
  plant(
    'a new passkey whose key no signature can be verified with is stored',
    passkeys,
    'if ((await orNull(async () => isUsableKey(publicKey))) !== true) return null',
    'await orNull(async () => isUsableKey(publicKey))',
    'passkeys',
  ),
  plant(
    'a page that frames the application asks for passkeys',
    passkeys,
    'if (isFramed(clientDataJSON) || response.id !== credential.id) return null',
    'if (response.id !== credential.id) return null',
    'passkeys',
  ),
  {
    name: 'what is judged of a passkey’s answer is not what is verified',
    edits: [
      {
        file: passkeys,
        find: 'return texts.every((text) => decodeSegment(text) !== null)',
        replace: 'return texts.length > 0',
      },
    ],
    tests: ['test/crypto/webauthn-checks.test.ts'],
  },
  {
    name: 'the memory of headers keeps the first token of each key',
    edits: [
      {
        file: 'src/crypto/token-header.ts',
        find: 'known.set(Buffer.from(segment).toString(), header)',
        replace: 'known.set(segment, header)',
      },
    ],
    tests: ['test/security/secrets-in-memory/heap.test.ts'],
  },
]
