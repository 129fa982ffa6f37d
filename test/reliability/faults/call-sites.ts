import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { parseSource, walk } from '../../support/rules/parsed-source.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** How the library's sources name collections, the denylist and the counter. */
const receivers = [
  'users',
  'families',
  'sessions',
  'knownLogins',
  'tickets',
  'passwordHistories',
  'records',
  'collection',
  'denylist',
  'counter',
  'totpFactors',
  'backupCodes',
  'loginTickets',
  'pendingRegistrations',
  'stepUpProofs',
  'trustedDevices',
  'serviceCredentials',
  'passkeys',
  'passkeyChallenges',
  'oauthIdentities',
  'oauthFlows',
  'oauthCodes',
  'roles',
  'roleBindings',
  'accountDeletions',
]
const callee = new RegExp(
  `(^|[.])(${receivers.join('|')})[.](get|find|insert|update|take|put|hit|forgive)$`,
)

/** `src/domain/sessions/refresh.ts:162` of every place where the library calls its backend for a request. */
export function callSites(): ReadonlySet<string> {
  const paths = globSync(['src/domain/**/*.ts', 'src/stores/newest-first.ts'], { cwd: root }).map(
    (path) => path.replaceAll('\\', '/'),
  )
  return new Set(paths.filter((path) => !ofNoRequest.has(path)).flatMap((path) => callsIn(path)))
}

/** Cut short in `account-deletion`, `untold-factors` and `totp-keys` of the contract. */
const ofNoRequest = new Set([
  'src/domain/accounts/account-deletions.ts',
  'src/domain/factors/factor-enrollment.ts',
  'src/domain/factors/totp-factors.ts',
])

/**
 * Made where another request comes between, as in `late-factors` and `deletion-races` of the contract,
 * or where there are hundreds of documents, as in `own-sessions`.
 */
const elsewhere = new Set([
  'src/domain/sessions/own-sessions.ts sessions.get',
  'src/domain/factors/totp-enrollment.ts collections.totpFactors.take',
  // Another call uses the id and deletes the account, as in `deletion-races` of signing in by a provider.
  'src/domain/surface/surface-context.ts users.take',
  // The account was deleted before and is there again, as in `deletion-notes`.
  'src/domain/accounts/account-deletions.ts collections.users.get',
  'src/domain/passkeys/passkey-ceremonies.ts collections.passkeys.take',
  // Another account takes an identity, or the id is deleted, while the import is under way, as in `user-import` of the contract.
  'src/domain/accounts/user-import.ts users.take',
  'src/domain/accounts/user-import.ts totpFactors.take',
  // The service of that name, and no collection.
  'src/domain/accounts/user-import.ts oauthIdentities.find',
  // The address is confirmed while the request is under way, as in `me` of the contract.
  'src/domain/accounts/profile.ts users.get',
  // Beside the reply: the owner of an account is told of a lockout.
  'src/domain/factors/code-verification.ts deps.collections.users.get',
  // Beside the reply: the owner is told of guesses.
  'src/domain/mail/mail-service.ts collections.users.get',
])

/** The services that wrap a collection have its name: elsewhere a call is one of theirs. */
const wrapped: readonly (readonly [RegExp, string])[] = [
  [/(?<!collections\.)\bpendingRegistrations\./, '/pending-registrations.ts'],
]

function isWrapper(path: string, text: string): boolean {
  return wrapped.some(([name, file]) => name.test(text) && !path.endsWith(file))
}

function callsIn(path: string): readonly string[] {
  const { tree, lineOf } = parseSource(path, readFileSync(`${root}${path}`, 'utf8'))
  const found: string[] = []
  walk(tree, (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
    const text = node.expression.getText()
    if (isWrapper(path, text) || elsewhere.has(`${path} ${text}`)) return
    if (callee.test(text)) found.push(`${path}:${lineOf(node.expression.name)}`)
  })
  return found
}
