import { describe, expect, it } from 'vitest'
import { oauthHost } from '../../contract/oauth/oauth-host.js'
import { storedIn } from '../../support/hosts/open-host.js'
import { otherProcess } from './other-process.js'
import { expectGivenUp, rowsOf } from './overtaken-write.js'
import { sessionWrites, viewing } from './writes/session-writes.js'

describe('a write of a session whose document another process changes just before', () => {
  it.each(rowsOf(sessionWrites))('is given up: $name ($field)', expectGivenUp)
})

it('a token is not noted as shown if a late rotation came before the note', async () => {
  const { wrapBackend, runAhead } = otherProcess()
  const host = await oauthHost({ wrapBackend })
  const act = await viewing(host)
  const [user] = await storedIn(host, 'client').users.find({ kind: '' }, { limit: 1 })
  runAhead({
    ...{ collection: 'refresh_tokens', write: 'update', nth: 1, field: 'generation' },
    value: () => 3,
  })
  await act()
  const where = { userId: user?.id ?? '' }
  const [row] = await storedIn(host, 'client').families.find(where, { limit: 1 })
  expect(row).toMatchObject({ generation: 3, shown: 1 })
})
