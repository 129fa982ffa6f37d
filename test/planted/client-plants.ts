import type { PlantEntry } from './plant.js'

const page = 'src/client/page-session.ts'
const app = 'src/client/app-session.ts'
const fetches = 'src/client/auth-client.ts'
const sending = 'src/client/with-session.ts'
const door = 'src/client/refresh-door.ts'
const calls = 'test/client/calls.test.ts'
const returning = 'test/client/coming-back.test.ts'
const renewal = 'test/client/renewal.test.ts'
const apps = 'test/client/mobile.test.ts'
const faults = 'test/client/mobile-faults.test.ts'

const one = (
  name: string,
  file: string,
  find: string,
  replace: string,
  test: string,
): PlantEntry => ({
  name,
  file,
  find,
  replace,
  tests: [test],
})

/** Mistakes of the clients for browsers and apps. */
export const clientPlants: readonly PlantEntry[] = [
  one(
    'the client clears its session on a hint of another tab',
    page,
    'else await ask(true)',
    'else end(null, true)',
    renewal,
  ),
  one(
    'the client rotates without the lock',
    page,
    '      return hold(async () => {\n        // A login or a sign-out came first.',
    '      return Promise.resolve().then(async () => {\n        // A login or a sign-out came first.',
    renewal,
  ),
  one(
    'the client tells other tabs whose session it is',
    page,
    'channel?.postMessage({ v: version, surface, kind })',
    'channel?.postMessage({ v: version, surface, kind, user: state.userId() })',
    renewal,
  ),
  one(
    'the client ends the session at any 401 to a refresh',
    page,
    'if (answer?.ended !== undefined) {',
    'if (answer?.status === 401) {',
    renewal,
  ),
  one(
    'the client takes the 401 of a gateway for its own',
    'src/client/exchange.ts',
    'return isPlain && Object.keys(body).length === plainMembers.length ? null : undefined',
    'return null',
    returning,
  ),
  one(
    'the client takes a marker that it cannot see for one that is gone',
    page,
    'return notes.sawMarker() || (isOwnOrigin && notes.rotatedAt() === 0)',
    'return true',
    returning,
  ),
  one(
    'the client uses the token of a user who is not shown',
    page,
    'if (subjectOf(grant.accessToken) === state.userId()) take(grant)',
    'if (grant) take(grant)',
    renewal,
  ),
  one(
    'the client refreshes after a change of the password only when that is due',
    'src/client/caller.ts',
    "else if (key === 'POST /me/password') await session.rotate().catch(() => {})\n",
    '',
    calls,
  ),
  one(
    'the client gives up a rotation whose reply is lost',
    door,
    'const isOver = isLost ? now() - began >= repeatMs : answer?.status !== 503 || tries > 1',
    'const isOver = answer?.status !== 503 || tries > 1',
    renewal,
  ),
  one(
    'the client sends what was begun for another user',
    'src/client/caller.ts',
    'if (user && now && now !== user) throw aborted(otherUser)',
    'if (user && now === null) throw aborted(otherUser)',
    calls,
  ),
  one(
    'authFetch sends the token to any origin',
    fetches,
    'if (!listed.has(origin)) return',
    "if (!origin.startsWith('http')) return",
    calls,
  ),
  one(
    'authFetch believes any listed origin about the session',
    fetches,
    'isLibrary: origin === library',
    'isLibrary: listed.has(library)',
    calls,
  ),
  one(
    'authFetch sends a stream a second time',
    fetches,
    'const isRepeatable = isRequest ? isRead : !isStream',
    'const isRepeatable = isRequest ? isRead : !isStream || init.duplex !== undefined',
    calls,
  ),
  one(
    'authFetch follows redirects',
    fetches,
    "redirect: init.redirect ?? 'error'",
    "redirect: init.redirect ?? 'follow'",
    calls,
  ),
  one(
    'the client signs out at a refusal that is about what was typed',
    sending,
    'const isEnd = endingCodes.includes(code)',
    "const isEnd = code !== ''",
    renewal,
  ),
  one(
    'the client repeats what a 503 may have done',
    sending,
    "return code === 'session_enforcement_unavailable' ? 'wait' : null",
    "return status === 503 ? 'wait' : null",
    calls,
  ),
  one(
    'an app uses a token before it is written',
    app,
    '    unwritten = { old, next: refreshToken }\n',
    '    unwritten = { old, next: refreshToken }\n    take(grant)\n    void ask().catch(ignore)\n',
    apps,
  ),
  one(
    'an app forgets a token that it could not write',
    app,
    '    unwritten = { old, next: refreshToken }\n',
    '',
    faults,
  ),
  one(
    'an app uses up a token while its storage is locked',
    app,
    'return shown === undefined ? kept : { ...kept, refreshToken: shown, rotatingSince: began }',
    'return kept.refreshToken === shown ? kept : { ...kept, ...(shown ? { refreshToken: shown } : {}) }',
    faults,
  ),
  {
    name: 'an app rotates with the token that it remembers',
    edits: [
      {
        file: app,
        find: '  const hold = ownLock()\n',
        replace: '  const hold = ownLock()\n  let remembered: string | undefined\n',
      },
      {
        file: app,
        find: 'const shown = kept.refreshToken === unwritten?.old ? unwritten?.next : kept.refreshToken',
        replace: 'const shown = remembered ?? kept.refreshToken',
      },
      {
        file: app,
        find: '    const { refreshToken } = grant\n',
        replace: '    const { refreshToken } = grant\n    remembered = refreshToken\n',
      },
    ],
    tests: [faults],
  },
  {
    name: 'an app rotates once for each call',
    edits: [
      { file: app, find: 'renew: joined(() => {', replace: 'renew: (() => {' },
      {
        file: app,
        find: 'if (session.token !== token || token === null) return',
        replace: 'if (token === null) return',
      },
    ],
    tests: [apps],
  },
  one(
    'an app wipes its token at the 401 of a proxy',
    app,
    'if (answer?.ended) end(answer.ended)',
    'if (answer?.status === 401) end(answer.problem.code || null)',
    faults,
  ),
  one(
    'an app sends its token to another API',
    'src/client/kept-tokens.ts',
    'if (v !== version || own !== base) return {}',
    'if (v !== version) return {}',
    faults,
  ),
  one(
    'an app forgets its recognition id at a sign-out',
    app,
    'tokens.update(({ refreshToken, rotatingSince, ...besides }) => besides).catch(ignore)',
    'tokens.update(() => ({})).catch(ignore)',
    apps,
  ),
  one(
    'an app asks for its tokens as cookies',
    'src/client/create-mobile-client.ts',
    "own.headers.set('x-token-delivery', 'body')",
    "own.headers.set('x-token-delivery', 'cookie')",
    apps,
  ),
  one(
    'tabs use a token that another tab replaced',
    page,
    'if (isRotatedElsewhere && notes.unansweredSince() === 0) await ask()',
    'if (isRotatedElsewhere && notes.unansweredSince() < 0) await ask()',
    renewal,
  ),
  one(
    'a page forgets a rotation that it left unanswered',
    page,
    'notes.unansweredSince() > 0 ? rotate() : ask()',
    'notes.unansweredSince() < 0 ? rotate() : ask()',
    renewal,
  ),
  one(
    'a page that finishes a rotation tells the others',
    page,
    'rotate(false)',
    'rotate()',
    renewal,
  ),
  one(
    'a question is given up as soon as a rotation',
    door,
    '? 10_000 : 5000',
    '? 5000 : 5000',
    renewal,
  ),
  one(
    'a page finishes a rotation that is too old',
    page,
    'now() - notes.unansweredSince() < 10_000',
    'notes.unansweredSince() > 0',
    renewal,
  ),
]
