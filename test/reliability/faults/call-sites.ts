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
  'intents',
  'passwordHistories',
  'records',
  'collection',
  'denylist',
  'counter',
  'totpFactors',
  'backupCodes',
  'challenges',
  'pendingRegistrations',
  'stepUpProofs',
  'trustedDevices',
  'serviceCredentials',
  'passkeys',
  'oauthIdentities',
  'roles',
  'roleBindings',
  'accountDeletions',
]
const callee = new RegExp(
  `(^|[.])(${receivers.join('|')})[.](get|find|insert|update|take|put|hit|forgive)$`,
)

/** `src/domain/sessions/refresh.ts:162` of every place where the library calls its backend for a request. */
export function callSites(): ReadonlySet<string> {
  const paths = globSync(['src/domain/**/*.ts', 'src/stores/pages.ts'], { cwd: root }).map((path) =>
    path.replaceAll('\\', '/'),
  )
  return new Set(paths.flatMap((path) => callsIn(path)))
}

/**
 * The file, the function at its top level and the call of what is made where another request comes between, as in
 * `late-factors` and `deletion-races` of the contract, or where there are hundreds of documents, as in `own-sessions`.
 */
const elsewhere = new Set([
  'sessions/own-sessions.ts olderOf sessions.get',
  'factors/totp-enrollment.ts confirmTotpEnrollment totpFactors.take',
  // Another call uses the id and deletes the account, as in `deletion-races` of signing in by a provider.
  'surface/ways-in.ts takeBackUsed users.take',
  // The account was deleted before and is there again, as in `deletion-notes`.
  'accounts/account-deletions.ts note users.get',
  'passkeys/passkey-ceremonies.ts writeOf passkeys.take',
  // Another account takes an identity, or the id is deleted, while the import is under way, as in `user-import` of the contract.
  'accounts/user-import.ts createAccountImport users.take',
  'accounts/user-import.ts createAccountImport totpFactors.take',
  // The address is confirmed while the request is under way, as in `me` of the contract.
  'accounts/profile.ts renameUser users.get',
  // Another account has the identity by now, as in `mailed-sign-ups` of the contract.
  'oauth/oauth-links.ts holdIdentity users.get',
  // Apple told the name, as in `accounts` of the contract.
  'intents/pending-registrations.ts nameToldOnce pendingRegistrations.get',
  'intents/pending-registrations.ts forgetName pendingRegistrations.take',
  // The browser comes to the callback once more with the session it got there, as in `navigations` of the contract.
  'oauth/oauth-sign-in.ts isPresented users.get',
  'intents/login-intents.ts isLoginWaiting challenges.get',
  // Beside the reply: the owner of an account is told of a lockout, or of guesses.
  'factors/code-verification.ts tellOwner users.get',
  'mail/mail-service.ts mailGuesses users.get',
])

/** What the sweep and the end of a key finish: cut short in `account-deletion`, `untold-factors` and `totp-keys` of the contract. */
const ofNoRequest = new Set([
  ...['isUnfinished', 'withoutUnfinished', 'judge', 'resumeOne'].map(
    (name) => `accounts/account-deletions.ts ${name}`,
  ),
  ...['ownerOf', 'kinds'].map((name) => `factors/factor-enrollment.ts ${name}`),
  ...['move', 'moveFrom'].map((name) => `factors/totp-factors.ts ${name}`),
])

/** The services that wrap a collection have its name: elsewhere a call is one of theirs. */
const wrapped: readonly (readonly [RegExp, string])[] = [
  [/(?<!collections\.)\bpendingRegistrations\./, '/pending-registrations.ts'],
]

function isWrapper(path: string, text: string): boolean {
  return wrapped.some(([name, file]) => name.test(text) && !path.endsWith(file))
}

/** The name of the function at the top level around a node. */
function functionAt(node: ts.Node): string {
  let name = ''
  for (let one = node; one.parent !== undefined; one = one.parent) {
    if (ts.isFunctionDeclaration(one)) name = one.name?.getText() ?? name
  }
  return name
}

function callsIn(path: string): readonly string[] {
  const { tree, lineOf } = parseSource(path, readFileSync(`${root}${path}`, 'utf8'))
  const found: string[] = []
  walk(tree, (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
    const text = node.expression.getText()
    const place = `${path.replace('src/domain/', '')} ${functionAt(node)}`
    const called = text.split('.').slice(-2).join('.')
    if (isWrapper(path, text) || ofNoRequest.has(place)) return
    if (elsewhere.has(`${place} ${called}`)) return
    if (callee.test(text)) found.push(`${path}:${lineOf(node.expression.name)}`)
  })
  return found
}
