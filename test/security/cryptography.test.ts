import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** What is shipped and runs on a server, but for the kit of tests. */
const sources: ReadonlyMap<string, string> = new Map(
  ['src/', 'adapters/']
    .flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}${name.replaceAll('\\', '/')}`,
      ),
    )
    .filter((path) => path.endsWith('.ts') && !/^src\/(?:client|react|testing)\//.test(path))
    .map((path) => [path, read(path)]),
)

const libraries = [
  'node:crypto',
  'jose',
  'argon2',
  '@node-rs/argon2',
  'otplib',
  '@simplewebauthn/server',
]
const imports = (text: string): readonly string[] =>
  [
    ...text.matchAll(/^(?:import|export)\b(?! type)[^'"]*['"]([^'"]+)['"]/gm),
    ...text.matchAll(/^(?!\s*\*).*\b(?:import|importPart|require)\(\s*['"]([^'"]+)['"]/gm),
  ].map(([, name = '']) => name)

/** Lines of code that match, each with its file; comments are prose. */
const linesWith = (pattern: RegExp): readonly string[] =>
  [...sources].flatMap(([path, text]) =>
    text
      .split('\n')
      .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )

/** The arguments of a call, from behind its bracket on. */
function argumentsAt(text: string, from: number): readonly string[] {
  const found: string[] = ['']
  let depth = 0
  for (const sign of text.slice(from)) {
    if ('([{'.includes(sign)) depth += 1
    if (')]}'.includes(sign)) depth -= 1
    if (depth < 0) break
    if (sign === ',' && depth === 0) found.push('')
    else found[found.length - 1] += sign
  }
  return found
}

const page = read('docs/keys.md')
const [, inventory = ''] = page.split('## Inventory')

describe('the page on keys', () => {
  it('lists every file that calls cryptography, and no other', () => {
    const using = [...sources].filter(([, text]) =>
      imports(text).some((name) => libraries.includes(name)),
    )
    const rows = [...inventory.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = '']) => path)
    expect(rows.toSorted()).toEqual(using.map(([path]) => path).toSorted())
  })

  it('says of each secret who keeps it, how it changes and what to do when it leaks', () => {
    const [, secrets = ''] = page.split('## Secrets')
    const rows = (secrets.split('##')[0] ?? '').split('\n').filter((line) => line.startsWith('| '))
    expect(rows.length).toBeGreaterThan(7)
    for (const row of rows)
      expect(
        row
          .split('|')
          .slice(1, -1)
          .every((cell) => cell.trim() !== ''),
        row,
      ).toBe(true)
    for (const option of ['keys', 'configKeys']) expect(page).toContain(`\`${option}\``)
    for (const part of ['## Policy', '## Other algorithms']) expect(page).toContain(part)
  })
})

describe('cryptography in the sources', () => {
  it('encrypts with AES-256-GCM alone, and two imported formats are read otherwise', () => {
    const named = linesWith(/create(?:C|Dec)ipheriv\('/).map((line) =>
      line.replace(/^.*\/([\w-]+\.ts): .*'(.*?)'.*$/, '$1 $2'),
    )
    expect(named.toSorted()).toEqual([
      'better-auth-secrets.ts chacha20-poly1305',
      'legacy-formats.ts aes-256-ctr',
      'secret-box.ts aes-256-gcm',
      'secret-box.ts aes-256-gcm',
    ])
    expect(
      linesWith(/\becb\b|-cbc\b|publicEncrypt|privateDecrypt|RSA_PKCS1_PADDING|RSA1_5/i),
    ).toEqual([])
  })

  it('has SHA-1 where a protocol wants it, and MD5 in imported hashes alone', () => {
    const files = linesWith(/['"]sha-?1['"]/i).map((line) => line.split(':')[0])
    expect([...new Set(files)].toSorted()).toEqual([
      'adapters/redis/script.ts',
      // What a hash of Keycloak and a key URI of an authenticator app name.
      'src/cli/import/json-files/keycloak-source.ts',
      'src/cli/import/rows/carried-row.ts',
      'src/crypto/common-passwords.ts',
      'src/crypto/legacy-formats.ts',
      'src/crypto/totp.ts',
      'src/crypto/verifiers.ts',
    ])
    const older = linesWith(/['"](?:md5|md4|ripemd160)['"]/i)
    expect(older).toEqual([expect.stringMatching(/^src\/crypto\/verifiers\.ts: const md5 = /)])
  })

  it('makes no pattern out of text', () => {
    expect(linesWith(/\bRegExp\(/)).toEqual([])
  })

  it('writes the public key of a passkey once, when it is registered', () => {
    const updates = [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/passkeys\.update\(/g)].map(({ index }) => ({
        path,
        written: argumentsAt(text, index + 'passkeys.update('.length)[2] ?? '',
      })),
    )
    expect(updates.length).toBeGreaterThan(3)
    expect(updates.filter(({ written }) => /publicKey/.test(written))).toEqual([])
    // The reader finds such a write where there is one.
    expect(argumentsAt('id, { a }, { publicKey: x, ...(y ? { z } : {}) })', 0)[2]).toContain(
      'publicKey',
    )
  })

  it('leaves the checking of certificates on', () => {
    expect(
      linesWith(/rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED|checkServerIdentity/),
    ).toEqual([])
  })
})

describe('the lock file', () => {
  it('has a hash of every package, and names no place but the registry', () => {
    const lock: {
      readonly packages: Readonly<
        Record<string, { resolved?: string; integrity?: string; link?: boolean }>
      >
    } = JSON.parse(read('package-lock.json'))
    const packages = Object.entries(lock.packages).filter(
      ([name, { link }]) => name !== '' && link !== true,
    )
    expect(packages.length).toBeGreaterThan(100)
    expect(packages.filter(([, { integrity = '' }]) => !/^sha512-/.test(integrity))).toEqual([])
    const elsewhere = packages.filter(
      ([, { resolved = 'https://registry.npmjs.org/' }]) =>
        !resolved.startsWith('https://registry.npmjs.org/'),
    )
    expect(elsewhere).toEqual([])
  })
})
