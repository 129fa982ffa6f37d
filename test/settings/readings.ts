/**
 * What every setting reads as: key | absent | empty | set | out of range | cannot be read. `14m>15m`
 * is a stored text and what it reads as; a second such pair, after a space, is another case. `!` at the
 * end: the log says that it is out of range. `?`: the log says that it cannot be read. `-` is the empty
 * text, `none` is null, and `x*256` is a text of that length.
 *
 * Switches and choices have no range: what stands there is a value of another setting's.
 */
const table = `
  registrationOperatorEnabled  | false | false | true>true | 1>false? | TRUE>false?
  registrationClientEnabled    | true | true | false>false | 0>true? | FALSE>true?
  registrationAllowedDomains   | [] | [] | see below
  registrationTermsVersion     | - | - | 2026-11>2026-11 | x*65>x*64! | \t>\t
  emailVerificationRequired    | true | true | false>false | 0>true? | no>true?
  emailVerificationTTL         | 1d | 1d | 2h>2h | 14m>15m! 8d>7d! | soon>1d?

  passwordLoginOperatorEnabled | true | true | false>false | 0>true? | off>true?
  passwordLoginClientEnabled   | true | true | false>false | 0>true? | off>true?
  accessTokenTTL               | 15m | 15m | 5m>5m | 59s>1m! 25h>1d! | soon>15m? -5m>15m?
  sessionAbsoluteTTL           | 30d | none | 8h>8h | 59m>1h! 90d>89d! | never>30d? none>30d?
  refreshReuseGrace            | 10s | 10s | 0s>0s | 61s>1m! | -1s>10s?
  cookieSameSite               | lax | lax | strict>strict | off>lax? | Strict>lax?

  passwordMinLength            | 15 | 15 | 8>8 | 7>8! 129>128! | -1>15? 1e2>15?
  passwordBreachCheck          | off | off | failClosed>failClosed | strict>off? | failopen>off?
  passwordBlockCommon          | true | true | false>false | 0>true? | no>true?
  passwordBlockContextual      | true | true | false>false | 0>true? | no>true?
  passwordHistoryCount         | 5 | 5 | 0>0 | 25>24! | -1>5?
  passwordMaxAge               | none | none | 365d>365d | 23h>1d! 731d>730d! | never>none?

  mfaPolicyOperator            | optional | optional | required>required | lax>optional? | Required>optional?
  mfaPolicyClient              | optional | optional | off>off | lax>optional? | Required>optional?
  totpEnabled                  | true | true | false>false | 0>true? | off>true?
  totpIssuer                   | Auth | Auth | Acme>Acme | x*65>x*64! | \t>\t
  totpSkewSteps                | 1 | 1 | 2>2 | 3>2! | -1>1?
  backupCodeCount              | 10 | 10 | 20>20 | 4>5! 21>20! | ten>10?
  webauthnMode                 | secondFactor | secondFactor | passwordless>passwordless | optional>secondFactor? | on>secondFactor?
  webauthnUserVerification     | required | required | preferred>preferred | off>required? | Preferred>required?
  mfaMaxAttempts               | 5 | 5 | 3>3 | 2>3! 11>10! | 5.0>5?
  stepUpMaxAge                 | 15m | 15m | 1h>1h | 59s>1m! 61m>1h! | 1m1h>15m?
  trustedDeviceOperatorEnabled | false | false | true>true | 1>false? | TRUE>false?
  trustedDeviceClientEnabled   | true | true | false>false | 0>true? | off>true?
  trustedDeviceTTL             | 30d | 30d | 90d>90d | 23h>1d! 91d>90d! | month>30d?

  oauthRedirectTargets         | [] | [] | see below
  googleOperatorEnabled        | false | false | true>true | 1>false? | on>false?
  googleClientEnabled          | false | false | true>true | 1>false? | on>false?
  googleClientId               | - | - | g-id>g-id | x*256>x*255! | \t>\t
  googleClientSecret           | - | - | g-secret>g-secret | x*256>x*256 | \t>\t
  microsoftOperatorEnabled     | false | false | true>true | 1>false? | on>false?
  microsoftClientEnabled       | false | false | true>true | 1>false? | on>false?
  microsoftClientId            | - | - | m-id>m-id | x*256>x*255! | \t>\t
  microsoftClientSecret        | - | - | m-secret>m-secret | x*256>x*256 | \t>\t
  microsoftTenant              | common | common | organizations>organizations | x*256>-! | contoso.example>-! \t>-!
  appleOperatorEnabled         | false | false | true>true | 1>false? | on>false?
  appleClientEnabled           | false | false | true>true | 1>false? | on>false?
  appleServicesId              | - | - | org.example.web>org.example.web | x*256>x*255! | \t>\t
  appleTeamId                  | - | - | ABCDE12345>ABCDE12345 | x*11>x*10! | ABC>-?
  appleKeyId                   | - | - | FGHIJ67890>FGHIJ67890 | x*11>x*10! | ABC>-?
  applePrivateKey              | - | - | pem>pem | x*2049>x*2049 | pem>pem
  githubOperatorEnabled        | false | false | true>true | 1>false? | on>false?
  githubClientEnabled          | false | false | true>true | 1>false? | on>false?
  githubClientId               | - | - | h-id>h-id | x*256>x*255! | \t>\t
  githubClientSecret           | - | - | h-secret>h-secret | x*256>x*256 | \t>\t

  loginRateOperator            | 20 | 20 | 1>1 | 0>1! 1001>1000! | many>20?
  loginRateClient              | 60 | 60 | 1000>1000 | 0>1! 1001>1000! | many>60?
  lockoutThreshold             | 10 | 10 | 0>0 | 1>3! 2>3! 101>100! | -1>10?
  lockoutDuration              | 15m | 15m | 24h>24h | 59s>1m! 25h>1d! | soon>15m?
  grantFailuresPerIp           | 30 | 30 | 1>1 | 0>1! 1001>1000! | many>30?
  grantFailuresPerClient       | 10 | 10 | 100>100 | 0>1! 101>100! | many>10?
  notifyNewDevice              | true | true | false>false | 0>true? | off>true?
  notifySecurityChanges        | true | true | false>false | 0>true? | off>true?
  securityWebhooks             | [] | [] | see below

  maxConcurrentSessions        | 0 | 0 | 100>100 | 101>100! | -1>0?
  revokeSessionsOnPasswordChange | true | true | false>false | 0>true? | off>true?
  accountDeletionMode          | client | client | off>off | operator>client? | Both>client?
`

/** One way a setting may be stored, and what it reads as then. */
export interface ReadingCase {
  readonly stored: string
  readonly reads: unknown
  /** The text in the log, as a pattern. */
  readonly warning: string | null
}

export interface ReadingRow {
  readonly key: string
  readonly absent: unknown
  readonly empty: unknown
  /** Record lists have theirs in `readings.test.ts`. */
  readonly stored: readonly ReadingCase[]
}

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export const readings: readonly ReadingRow[] = table
  .split('\n')
  .filter((line) => line.includes('|'))
  .map(rowOf)

function rowOf(line: string): ReadingRow {
  const cells = line.split('|').map((cell) => cell.replace(/^ +| +$/g, ''))
  const [key = '', absent = '', empty = '', ...stored] = cells
  const cases = stored.filter((cell) => cell !== 'see below')
  return {
    key,
    absent: typed(key, absent),
    empty: typed(key, empty),
    stored: cases.flatMap((cell) => cell.split(' ').map((text) => caseOf(key, text))),
  }
}

function caseOf(key: string, cell: string): ReadingCase {
  const [stored = '', expected = ''] = cell.split('>')
  const warnings = {
    '!': 'is (out of range|outside .*); using ',
    '?': '(cannot be read; its default is used|is not a duration .*)',
  } as const
  const mark = expected.endsWith('!') ? '!' : expected.endsWith('?') ? '?' : null
  const reads = typed(key, mark === null ? expected : expected.slice(0, -1))
  return { stored: longText(stored), reads, warning: mark === null ? null : warnings[mark] }
}

function typed(key: string, cell: string): unknown {
  if (cell === '[]') return []
  if (cell === '-') return ''
  if (cell === 'none') return null
  if (cell === 'true' || cell === 'false') return cell === 'true'
  if (/(TTL|MaxAge|Grace|Duration)$/.test(key)) return milliseconds(cell)
  return /^[0-9]+$/.test(cell) ? Number(cell) : longText(cell)
}

function milliseconds(cell: string): number {
  const [, amount, unit = ''] = /^([0-9]+)([smhd])$/.exec(cell) ?? []
  return Number(amount) * (units[unit] ?? Number.NaN)
}

function longText(cell: string): string {
  const [, letter = '', count] = /^(.)\*([0-9]+)$/.exec(cell) ?? []
  return count === undefined ? cell : letter.repeat(Number(count))
}
