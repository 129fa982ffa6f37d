/** A mutant that survives because it does nothing that could be noticed. */
export interface Equivalent {
  readonly file: string
  /** The line that it begins in, without the space around it. */
  readonly line: string
  readonly replacement: string
  /** Why no test can tell. */
  readonly reason: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/engine/passwords.ts',
    line: 'const least = Math.max(allowWeak ? 0 : (row?.memoryCost ?? 0), 8 * parallelism)',
    replacement: 'row.memoryCost',
    reason: 'the first row is of one pass, and no fewer get here',
  },
  {
    file: 'src/engine/factors.ts',
    line: "const letters = Array.from(random.subarray(0, 9), (byte) => alphabet[byte % 32] ?? '')",
    replacement: '"Stryker was here!"',
    reason: 'the alphabet has 32 letters',
  },
  {
    file: 'src/engine/factors.ts',
    line: "const code = (alphabet[index] ?? '') + letters.join('')",
    replacement: '"Stryker was here!"',
    reason: 'there are at most twenty codes',
  },
  {
    file: 'src/engine/passwords.ts',
    line: 'const related = fold(others.flatMap((text) => text.split(/[^\\p{L}\\p{M}\\p{N}]+/u)))',
    replacement: '/[^\\p{L}\\p{M}\\p{N}]/u',
    reason: 'empty parts are dropped with the short ones',
  },
  {
    file: 'src/engine/passwords.ts',
    line: ".replace(/\\p{M}+/gu, '')",
    replacement: '/\\p{M}/gu',
    reason: 'every mark goes either way',
  },
  {
    file: 'src/engine/duration.ts',
    line: 'const size = units.find(([name]) => name === unit)?.[1] ?? 0',
    replacement: 'units.find(([name]) => name === unit)[1]',
    reason: 'the expression before lets no other unit through',
  },
  {
    file: 'src/engine/addresses.ts',
    line: "const [head = '', tail] = ip.replace(/(?:\\d{1,3}\\.){3}\\d{1,3}$/, asGroups).split('::')",
    replacement: '"Stryker was here!"',
    reason: 'a split text has a first part',
  },
  {
    file: 'src/engine/addresses.ts',
    line: "const [head = '', tail] = ip.replace(/(?:\\d{1,3}\\.){3}\\d{1,3}$/, asGroups).split('::')",
    replacement: '/(?:\\d{1,3}\\.){3}\\d{1,3}/',
    reason: 'an address has dots at its end alone',
  },
  {
    file: 'src/engine/addresses.ts',
    line: 'const missing = tail === undefined ? 0 : 8 - left.length - right.length',
    replacement: 'false',
    reason: 'without a gap there are eight groups, and none is missing',
  },
  {
    file: 'src/engine/intents.ts',
    line: "typeof sessionEpoch === 'number' &&",
    replacement: 'true',
    reason: 'no epoch is one more than none',
  },
  {
    file: 'src/engine/login-risk-rules.ts',
    line: "const parts = (kept ?? '').slice(0, 1024).split('.')",
    replacement: '"Stryker was here!"',
    reason: 'that text holds no key either',
  },
  {
    file: 'src/engine/login-risk-rules.ts',
    line: "const [before = '', after = ''] = ip.toLowerCase().split('::')",
    replacement: '"Stryker was here!"',
    reason: 'a split text has a first part',
  },
  {
    file: 'src/engine/refresh-rules.ts',
    line: 'if (presented.nextJti !== null && family.rotatedTo === presented.nextJti) {',
    replacement: 'true',
    reason: 'no row names a token of null',
  },
  {
    file: 'src/engine/factors.ts',
    line: 'return (stored > 0 || shown > 0) && shown <= stored',
    replacement: 'false',
    reason: 'where nothing is stored, what is shown is not below it',
  },
  {
    file: 'src/engine/sweep-schedule.ts',
    line: 'earlier !== null && isSame(earlier, record) && earlier.since <= now ? earlier.since : now',
    replacement: 'earlier.since < now',
    reason: 'at that moment both are the same number',
  },
  {
    file: 'src/engine/accounts.ts',
    line: 'if (given.name !== undefined && !isSingleLine(String(given.name))) {',
    replacement: 'true',
    reason: 'the text of no name is a single line',
  },
  {
    file: 'src/crypto/webauthn.ts',
    line: "loadPart('WebAuthn', async () => ({",
    replacement: '""',
    reason:
      'the name is told where the part cannot be loaded, which test/package/start.test.ts shows',
  },
  {
    file: 'src/crypto/totp.ts',
    line: "const library = () => loadPart('otplib', () => import('otplib'))",
    replacement: '""',
    reason:
      'the name is told where the part cannot be loaded, which test/package/start.test.ts shows',
  },
  {
    file: 'src/crypto/totp.ts',
    line: 'return new ScureBase32Plugin().encode(bytes, { padding: false })',
    replacement: '{}',
    reason: 'without padding is the default of the package',
  },
  {
    file: 'src/crypto/tokens.ts',
    line: 'if (first < 0 || second < 0) return null',
    replacement: 'false',
    reason: 'without two dots there is no header or no signature that can be read',
  },
  {
    file: 'src/crypto/tokens.ts',
    line: 'if (first < 0 || second < 0) return null',
    replacement: 'first < 0 && second < 0',
    reason: 'without two dots there is no header or no signature that can be read',
  },
  {
    file: 'src/crypto/tokens.ts',
    line: 'if (first < 0 || second < 0) return null',
    replacement: 'first <= 0',
    reason: 'without two dots there is no header or no signature that can be read',
  },
  {
    file: 'src/crypto/tokens.ts',
    line: 'if (first < 0 || second < 0) return null',
    replacement: 'second <= 0',
    reason: 'without two dots there is no header or no signature that can be read',
  },
  {
    file: 'src/crypto/token-format.ts',
    line: 'if (header !== null) known.set(Buffer.from(segment).toString(), header)',
    replacement: ';',
    reason: 'it is read again then, with the same result',
  },
  {
    file: 'src/crypto/token-format.ts',
    line: "if (alg !== 'RS256' || typeof kid !== 'string' || typeof typ !== 'string') return null",
    replacement: 'false',
    reason: 'no key and no type is named by what is no text',
  },
]
