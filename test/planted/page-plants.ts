import type { PlantEntry } from './plant.js'

const look = 'src/domain/sessions/own-sessions.ts'
const read = 'src/http/session-of.ts'
const states = 'test/contract/sessions/session-of-states.test.ts'
const connections = 'test/contract/sessions/session-of-connections.test.ts'

/** Mistakes with sessions that a host reads for its own pages. */
export const pagePlants: readonly PlantEntry[] = [
  {
    name: 'sessionOf opens a connection that says no origin',
    file: 'src/http/incoming-request.ts',
    find: "return secFetchSite === 'same-origin' || (origin !== undefined && allowed.has(origin))",
    replace: "return isOriginAllowed({ origin, 'sec-fetch-site': secFetchSite }, allowed)",
    tests: [connections],
  },
  {
    name: 'sessionOf tells a page of a session that is on the denylist',
    file: look,
    find: '  if (!isStanding(attempt)) {\n',
    replace: '  if (!isStanding({ ...attempt, entry: null })) {\n',
    tests: [states],
  },
  {
    name: 'sessionOf rechecks a connection by the cookie that opened it',
    file: look,
    find: 'const gen = Math.max(before.gen, family?.generation ?? 0)',
    replace: 'const gen = before.gen',
    tests: [connections],
  },
  {
    name: 'sessionOf rechecks a connection without the epoch of the user',
    file: look,
    find: 'judgeAttempt(ctx, newest, family, attempt.user)',
    replace: 'judgeAttempt(ctx, newest, family, null)',
    tests: [connections],
  },
  {
    name: 'sessionOf mints a token by what a request was answered first',
    file: read,
    find: "const isStale = use !== 'page' && isKnown && first !== null",
    replace: "const isStale = use !== 'page' && !isKnown && first !== null",
    tests: [connections],
  },
  {
    name: 'sessionOf says nobody while the store does not answer',
    file: read,
    find: 'const looking = findSession(ctx, fullCookies(head.cookies, names.refresh), visitorOf(head))',
    replace:
      'const looking = findSession(ctx, fullCookies(head.cookies, names.refresh), visitorOf(head)).catch(() => null)',
    tests: ['test/contract/sessions/session-of-mistakes.test.ts'],
  },
  {
    name: 'sessionOf takes the origin of a form post for granted',
    file: read,
    find: "    if (use === 'page') return\n",
    replace: "    if (use !== 'connection') return\n",
    tests: ['test/contract/sessions/session-of.test.ts'],
  },
  {
    name: 'sessionOf overlooks a header whose usual name has no value',
    file: read,
    find: 'const key = name.toLowerCase()',
    replace: 'const key = name',
    tests: ['test/contract/sessions/session-of-mistakes.test.ts'],
  },
  {
    name: 'optionalUser serves a token of another scheme as a stranger',
    file: 'src/http/route-guards.ts',
    find: "request.header('authorization') === undefined",
    replace: "!request.header('authorization')?.startsWith('Bearer ')",
    tests: ['test/contract/authorization/optional-user.test.ts'],
  },
]
