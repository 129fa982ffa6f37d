import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plant } from './plant.js'

/** A constant of time. A clock that a test stops never feels it, unless the test lets so much time pass. */
interface TimeConstant {
  /** Its file below `src/domain`, and its name. */
  readonly id: string
  readonly file: string
  /** The declaration up to the value, and the value. */
  readonly declared: string
  readonly value: string
}

const declaration = /^((?:export )?const (\w+(?:Ms|Seconds)) = )([\w *+]+)$/gm

/** Every constant of time of the domain, found by reading it, so that none is forgotten. */
export function findTimes(root: string): readonly TimeConstant[] {
  const files = globSync('src/domain/**/*.ts', { cwd: root }).toSorted()
  return files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(declaration)].map(
      ([, declared = '', name = '', value = '']) => {
        const id = `${file.slice('src/domain/'.length, -'.ts'.length)} ${name}`
        return { id, file, declared, value }
      },
    ),
  )
}

const by = (
  test: string,
  ids: readonly string[],
): Readonly<Record<string, readonly [string, ...string[]]>> =>
  Object.fromEntries(ids.map((id) => [id, [test] as const]))

/** The test that notices when a time is a thousand times shorter. */
export const timeTests: Readonly<Record<string, readonly [string, ...string[]]>> = {
  ...by('test/contract/login/mailed-code.test.ts', ['login/mailed-code hourMs']),
  ...by('test/contract/login/mailed-code.test.ts', ['login/mailed-code lifeMs']),
  ...by('test/contract/accounts/account-deletion.test.ts', [
    'accounts/account-deletions attemptMs',
  ]),
  ...by('test/contract/accounts/deletion-notes.test.ts', [
    'accounts/account-deletions lookAgainMs',
  ]),
  ...by('test/contract/accounts/repeated-verification.test.ts', [
    'intents/login-intents confirmedMs',
  ]),
  ...by('test/contract/accounts/before-register.test.ts', ['surface/ways-in patienceMs']),
  ...by('test/contract/authorization/authorization.test.ts', [
    'authorization/access authorizerTimeoutMs',
  ]),
  ...by('test/contract/authorization/held-up-requests.test.ts', ['authorization/access freshMs']),
  ...by('test/contract/config/cut-off-edits.test.ts', [
    'configuration/config-changes leastMs',
    'configuration/config-changes longestWaitMs',
  ]),
  ...by('test/contract/config/overtaken-edits.test.ts', ['configuration/config-changes timeoutMs']),
  ...by('test/contract/factors/first-factors.test.ts', ['intents/login-intents lifeMs']),
  ...by('test/contract/factors/mfa-self.test.ts', [
    'context/open-collections proofLifeMs',
    'factors/totp-factors pendingMs',
  ]),
  ...by('test/contract/factors/trusted-devices.test.ts', ['factors/trusted-devices usedEveryMs']),
  ...by('test/contract/factors/untold-factors.test.ts', ['factors/factor-changes noticeMs']),
  ...by('test/contract/login/login-risk.test.ts', ['login/login-risk timeoutMs']),
  ...by('test/contract/login/login.test.ts', ['login/login-pipeline passwordTokenMs']),
  ...by('test/contract/login/long-guessing.test.ts', [
    'limits/lockout dayMs',
    'limits/lockout monthMs',
  ]),
  ...by('test/contract/oauth/app-codes.test.ts', [
    'intents/oauth-flows flowSeconds',
    'intents/oauth-flows codeLifeMs',
    'intents/oauth-flows codeKeptMs',
  ]),
  ...by('test/contract/oauth/links.test.ts', ['oauth/oauth-links abandonedMs']),
  ...by('test/contract/oauth/navigations.test.ts', [
    'intents/oauth-flows flowCookieSeconds',
    'intents/oauth-flows keptMs',
  ]),
  ...by('test/contract/oauth/own-browser.test.ts', ['intents/oauth-flows lifeMs']),
  ...by('test/contract/passkeys/passkey-login.test.ts', [
    'intents/passkey-challenges challengeLifeMs',
  ]),
  ...by('test/contract/passwords/password-breach.test.ts', [
    'hashing/password-hashes timeoutMs',
    'hashing/password-hashes pauseMs',
  ]),
  ...by('test/contract/service-accounts/service-grant-cost.test.ts', [
    'service-accounts/service-credentials lastUseGrainMs',
  ]),
  ...by('test/contract/service-accounts/service-grant-refusals.test.ts', [
    'service-accounts/service-credentials failureWindowMs',
  ]),
  ...by('test/contract/sessions/denylist.test.ts', ['context/open-collections denylistLifeMs']),
  ...by('test/contract/sessions/followers.test.ts', ['sessions/refresh-reading windowMs']),
  ...by('test/contract/sessions/future-tokens.test.ts', [
    'sessions/refresh-reading saidEveryMs',
    'sessions/refresh-reading mostWaitMs',
  ]),
  ...by('test/contract/sessions/key-rotation.test.ts', ['keys/signing-keys askedEveryMs']),
  ...by('test/contract/sessions/session-risk.test.ts', [
    'sessions/refresh-reading timeoutMs',
    'surface/surface-context minuteMs',
    'surface/surface-context hourMs',
  ]),
  ...by('test/contract/sessions/sign-out-beside-login.test.ts', [
    'sessions/session-endings underWayMs',
  ]),
  ...by('test/contract/settings/staleness.test.ts', ['configuration/config-store lifeMs']),
  ...by('test/domain/events/audit-log.test.ts', ['events/audit-log windowMs']),
  ...by('test/domain/events/webhooks.test.ts', [
    'events/webhooks timeoutMs',
    'events/webhooks graceMs',
    'events/webhooks lastAttemptMs',
    'events/webhooks retryMs',
    'events/webhooks idleMs',
  ]),
  ...by('test/domain/factors/totp-factors.test.ts', ['factors/totp-factors saidEveryMs']),
  ...by('test/domain/passwords/check-floor.test.ts', ['hashing/password-hashes longestMs']),
  ...by('test/domain/sessions/remote-signatures.test.ts', ['keys/signing-keys saidEveryMs']),
  ...by('test/domain/sessions/signing-keys.test.ts', [
    'keys/signing-keys readEveryMs',
    'keys/signing-keys retryEveryMs',
    'keys/signing-keys trustedForMs',
    'keys/signing-keys answerWithinMs',
    'keys/signing-keys signerProvedForMs',
  ]),
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Each constant of time, a thousand times shorter. */
export const timePlants: readonly Plant[] = findTimes(root).flatMap(
  ({ id, file, declared, value }) => {
    const [test] = timeTests[id] ?? []
    if (test === undefined) return []
    const edit = { file, find: `${declared}${value}\n`, replace: `${declared}(${value}) / 1000\n` }
    return [{ name: `a thousandth of the time: ${id}`, edits: [edit], tests: [test] }]
  },
)
