import { expect, it } from 'vitest'
import { type ContractHost, memoryHost } from '../support/hosts/hosts.js'
import { person } from '../support/people/people.js'

const said = ({ logger }: ContractHost) =>
  logger.lines.filter(({ message }) => message.startsWith('close()'))

it('close() gives up on a mailer that never answers after 15 seconds, and says so', async () => {
  let answer = (): void => {}
  const never = new Promise<void>((resolve) => {
    answer = resolve
  })
  const host = await memoryHost.start({ mailer: { send: () => never } })
  const { email } = await person(host, 'client')
  await host.send('POST', '/v1/auth/client/password/forgot', { body: { email } })
  let closed = false
  const closing = host.auth.close().then(() => {
    closed = true
  })
  await host.clock.advance(14_999)
  expect([closed, said(host)]).toEqual([false, []])
  await host.clock.advance(1)
  await closing
  const [line] = said(host)
  expect(line?.message).toMatch(/^close\(\) gave up after 15 seconds/)
  answer()
  await host.close()
})

it('close() that needs no time leaves no timer behind', async () => {
  const host = await memoryHost.start()
  const pending = new Set<() => void>()
  const after = host.clock.after.bind(host.clock)
  host.clock.after = (ms, run) => {
    pending.add(run)
    const cancel = after(ms, run)
    return () => {
      pending.delete(run)
      cancel()
    }
  }
  await host.auth.close()
  expect([pending.size, said(host)]).toEqual([0, []])
  await host.close()
})
