import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Edit } from '../planted/plant.js'
import { copyTree, type TreeCopy } from '../planted/try-plants.js'
import { lockstep } from './lockstep.js'
import { markedRandom, renaming } from './random-names.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** A host with everything on, and one that asks for more. */
const few = { seed: 1, steps: 700 }

const plants: readonly (readonly [what: string, edit: Edit, shownAt: RegExp])[] = [
  [
    'a header less',
    {
      file: 'src/operations/views.ts',
      find: `    refreshCookie: refreshed.refresh,
    headers: { 'x-refresh-outcome': refreshed.outcome },`,
      replace: '    refreshCookie: refreshed.refresh,',
    },
    /^reply\.headers\..*x-refresh-outcome/,
  ],
  [
    'an event less',
    {
      file: 'src/http/refusal-events.ts',
      find: "emit('request.refused', source, { userId, operation, reason: error.code })",
      replace: 'void emit',
    },
    /^told\.events\..*request\.refused/,
  ],
  [
    'another name of a member',
    {
      file: 'src/operations/views.ts',
      find: 'hasPassword: user.passwordHash !== null,',
      replace: 'hasSecret: user.passwordHash !== null,',
    },
    /^reply\.body\.hasPassword: (true|false) \| undefined/,
  ],
]

describe('two builds in lockstep', () => {
  let copy: TreeCopy
  beforeAll(() => {
    copy = copyTree(root)
  })
  afterAll(() => copy.remove())

  it('answer alike where they are the same, though their random bytes differ', async () => {
    const { differences, requests, answers } = await lockstep(root, copy.dir, few)
    expect(differences).toEqual([])
    expect(requests).toBe(few.steps)
    expect(answers.get('clientLogin')?.get('200')).toBeGreaterThan(2)
  })

  it.each(plants)('differ by %s', async (_what, edit, shownAt) => {
    const putBack = copy.plant([edit])
    const { differences } = await lockstep(root, copy.dir, few).finally(putBack)
    expect(differences.length).toBeGreaterThan(0)
    expect(differences[0]?.places).toContainEqual(expect.stringMatching(shownAt))
  })
})

describe('names for what is random', () => {
  const ids = (seed: string) => {
    const random = markedRandom(seed)
    return [0, 1].map(() => Buffer.from(random.bytes(16)).toString('base64url'))
  }

  it('are the same for other random values, and tell one that was given before', () => {
    const [one, two] = ids('first')
    const [other, another] = ids('second')
    expect(one).not.toBe(other)
    const renamed = renaming()([one, `sa_${two}.${one}`])
    expect(renaming()([other, `sa_${another}.${other}`])).toEqual(renamed)
    expect(renaming()([other, `sa_${other}.${other}`])).not.toEqual(renamed)
  })

  it('leave words alone, and read tokens', () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = `${part({ alg: 'RS256' })}.${part({ gen: 2 })}.signature`
    expect(renaming()({ token, code: 'resend_user_email_verification_and_more_words' })).toEqual({
      token: '<token [{"alg":"RS256"},{"gen":2}]>',
      code: 'resend_user_email_verification_and_more_words',
    })
  })
})
