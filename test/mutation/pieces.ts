/** Sources that are mutated in one run, and the tests that may notice. */
export interface Piece {
  readonly name: string
  /** Of whose score the piece is a part. */
  readonly folder: 'src/engine' | 'src/crypto'
  /** Globs, from the repository's root. */
  readonly sources: readonly string[]
  readonly tests: readonly string[]
}

const engineTests = ['test/engine/*.test.ts', 'test/http/{incoming-request,parse-form}.test.ts']

/**
 * The rules and the cryptography, without the hashers: what these do is in the packages that they call. Small pieces,
 * because a mutant of a constant runs every test of its piece that imports the file.
 */
export const pieces: readonly Piece[] = [
  {
    name: 'engine-a',
    folder: 'src/engine',
    sources: ['src/engine/[a-k]*.ts'],
    tests: engineTests,
  },
  {
    name: 'engine-l',
    folder: 'src/engine',
    sources: ['src/engine/[l-p]*.ts'],
    tests: engineTests,
  },
  {
    name: 'engine-q',
    folder: 'src/engine',
    sources: ['src/engine/[q-z]*.ts'],
    tests: engineTests,
  },
  {
    name: 'configuration',
    folder: 'src/engine',
    sources: ['src/engine/configuration/*.ts'],
    tests: ['test/engine/configuration/*.test.ts'],
  },
  {
    name: 'tokens',
    folder: 'src/crypto',
    sources: ['src/crypto/{token-format,tokens}.ts'],
    // Without `token-bytes`, which changes ten thousand tokens in seconds and finds what these do.
    tests: [
      'test/crypto/{sign-token,token-{claims,corpus,header,segment},unknown-key-of,verify-token}.test.ts',
    ],
  },
  {
    name: 'memo',
    folder: 'src/crypto',
    sources: ['src/crypto/memos.ts'],
    tests: ['test/crypto/{secret-memo,token-memo}.test.ts'],
  },
  {
    name: 'keys',
    folder: 'src/crypto',
    sources: ['src/crypto/{key-ring,secret-box,secrets}.ts'],
    tests: ['test/crypto/{key-ring,ring-signer,secret-box,secrets,uuid}.test.ts'],
  },
  {
    name: 'factors',
    folder: 'src/crypto',
    sources: ['src/crypto/{totp,webauthn}.ts'],
    tests: ['test/crypto/{totp,webauthn,webauthn-ceremonies,credential-key}.test.ts'],
  },
  {
    name: 'passwords',
    folder: 'src/crypto',
    sources: ['src/crypto/{common-*,hash-gate,phc}.ts'],
    tests: [
      'test/crypto/{breach-range,common-passwords,guessable,hash-gate,hash-gate-groups,phc}.test.ts',
    ],
  },
]
