import type { PlantEntry } from './plant.js'

const refresh = 'src/domain/sessions/refresh.ts'
const sessions = 'src/domain/sessions/sessions.ts'
const ending = 'src/domain/sessions/session-endings.ts'
const login = 'src/domain/login/password-login.ts'
const limiter = 'src/domain/limits/rate-limiter.ts'
const orderOfALogin = 'test/contract/login/order-of-a-login.test.ts'
const sideBySide = 'test/contract/storage/side-by-side.test.ts'

/** Orders of calls that would save a round trip more, and may not. */
export const callOrderPlants: readonly PlantEntry[] = [
  {
    name: 'an ended session hears of the read that failed beside the denylist',
    file: 'src/domain/authorization/access.ts',
    find: '  if (judged !== undefined) await judged\n',
    replace: '  await readUserAhead(ctx, claims.sub)\n  if (judged !== undefined) await judged\n',
    tests: [sideBySide],
  },
  {
    name: 'a refresh of an ended session hears of the account that could not be read',
    file: 'src/domain/sessions/refresh-reading.ts',
    find: "entry !== null && owner.status === 'rejected' ? null : unwrapSettled(owner)",
    replace: 'unwrapSettled(owner)',
    tests: [sideBySide],
  },
  {
    name: 'a refresh signs beside the write that rotates',
    edits: [
      {
        file: refresh,
        find: '    const minted = await issue(ctx, attempt, user, signed)',
        replace: '    const minting = startEarly(issue(ctx, attempt, user, signed))',
      },
      {
        file: refresh,
        find: '    const write = await consume(ctx, attempt, user, { ...plan, ...next, rotatedAt })\n',
        replace:
          '    const [write, minted] = await Promise.all([consume(ctx, attempt, user, { ...plan, ...next, rotatedAt }), minting])\n',
      },
    ],
    tests: [sideBySide],
  },
  {
    name: 'a refresh signs after the write that rotates',
    edits: [
      {
        file: refresh,
        find: '    const minted = await issue(ctx, attempt, user, signed)\n',
        replace: '',
      },
      {
        file: refresh,
        find: '    const write = await consume(ctx, attempt, user, { ...plan, ...next, rotatedAt })\n',
        replace:
          '    const write = await consume(ctx, attempt, user, { ...plan, ...next, rotatedAt })\n    const minted = await issue(ctx, attempt, user, signed)\n',
      },
    ],
    tests: [sideBySide],
  },
  {
    name: 'the write that rotates asks for the deadline of when the signing began',
    file: refresh,
    find: 'const rotatedAt = ctx.clock.now()',
    replace: 'const rotatedAt = next.expiresAt - ctx.idleMs',
    tests: [sideBySide],
  },
  {
    name: 'a login is fenced beside the insert of its family',
    edits: [
      {
        file: sessions,
        find: 'await orTakenBack(ctx, id, () => store(ctx, family, document))',
        replace: 'const stored = store(ctx, family, document)',
      },
      {
        file: sessions,
        find: '  if (fenced === null) {',
        replace: '  await stored\n  if (fenced === null) {',
      },
    ],
    tests: [orderOfALogin],
  },
  {
    name: 'a login hands out the access token of the account as it was before the fence',
    file: sessions,
    find: 'await (hasSameClaims(user, fenced) ? early : access(fenced))',
    replace: 'await early',
    tests: [orderOfALogin],
  },
  {
    name: 'a login is answered before its wrong guesses are forgiven',
    file: login,
    find: '    await forgiven\n',
    replace: '    void forgiven\n',
    tests: [orderOfALogin],
  },
  {
    name: 'the row of a session is revoked beside its denylist entry',
    file: ending,
    find: '    ctx.denylist.put(batch.map(({ id }) => entryOf(ctx, id, reason, expiresAt))),\n',
    replace:
      '    ctx.denylist.put(batch.map(({ id }) => entryOf(ctx, id, reason, expiresAt))),\n    ...batch.map((session) => revoke(ctx, session, reason, ctx.clock.now())),\n',
    tests: [sideBySide],
  },
  {
    name: 'the document of a session is closed beside the revoking of its row',
    file: ending,
    find: 'const revoked = await revoke(ctx, session, reason, now)\n',
    replace:
      'const [revoked] = await Promise.all([\n      revoke(ctx, session, reason, now),\n      closeDocument(ctx, sessionId, reason),\n    ])\n',
    tests: [sideBySide],
  },
  {
    name: 'a logout is answered before its row is revoked',
    file: ending,
    find: 'const ended = await finish(ctx, session, asBegun(ctx, session, listed, { ...judgement, source }))\n',
    replace:
      'const ended = true\n      void finish(ctx, session, asBegun(ctx, session, listed, { ...judgement, source })).catch(() => {})\n',
    tests: [sideBySide],
  },
  {
    name: 'a logout is answered before its session is listed',
    file: ending,
    find: 'const listed = unwrapSettled(listing)\n',
    replace: "const listed = listing.status === 'fulfilled' ? listing.value : new Map()\n",
    tests: [sideBySide],
  },
  {
    name: 'a logout whose row could not be read leaves the session listed for less time than it lives',
    file: ending,
    find: "  if (judged.status === 'rejected')\n    await extendDenylistEntry(ctx, session.id, 'logout', ctx.clock.now())\n",
    replace: '',
    tests: [sideBySide],
  },
  {
    name: 'a grant that shared a hash is judged by the rows of before it',
    file: 'src/domain/service-accounts/service-credentials.ts',
    find: 'const now = standingOf(await readAgain(ctx, standing.credential))',
    replace:
      'const now = isShared ? standing : standingOf(await readAgain(ctx, standing.credential))',
    tests: ['test/contract/service-accounts/service-grant-cost.test.ts'],
  },
  {
    name: 'an unknown client id shares no hash',
    file: 'src/domain/service-accounts/service-credentials.ts',
    find: '  return ctx.memory.grants.verification(pair, ',
    replace:
      '  if (hash === null) {\n    const alone = async () => ({\n      value: await ctx.passwords.verify(hash, secret, line),\n      isShared: false,\n    })\n    return alone()\n  }\n  return ctx.memory.grants.verification(pair, ',
    tests: ['test/contract/service-accounts/service-grant-cost.test.ts'],
  },
  {
    name: 'the limits of a session and of its user are counted beside each other',
    file: limiter,
    find: 'await checkKey(keyOf(name, sessionId ?? userId), name, { limit, windowMs })\n      if (sessionId === null) return\n',
    replace:
      "const own = checkKey(keyOf(name, sessionId ?? userId), name, { limit, windowMs })\n      const wide = { limit: limit * sessionsPerUser, windowMs }\n      const all = keyOf([name, 'of the user'].join(' '), userId)\n      return void (await Promise.all([own, checkKey(all, name, wide)]))\n",
    tests: ['test/domain/limits/rate-limiter.test.ts'],
  },
]
