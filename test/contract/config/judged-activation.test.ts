import { expect, it } from 'vitest'
import { ConfigValidationError } from '../../../src/config/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { type ConfigHost, configHost, mailModule } from './config-host.js'
import { withoutPauses } from './overtaken-host.js'

/** Any sender may be written, one may not become active. */
const modules = [
  mailModule({
    validateActivation: ({ values }) =>
      values['sender'] === 'bad' ? new ConfigValidationError('sender', 'No.', 'mail.no') : null,
  }),
]

/**
 * A host on which something else happens in full before the n-th store call from `arm` on. `wrong` holds each switch
 * to values that may not become active.
 */
async function watchedHost(kind: (typeof eachSampleStore.cells)[number]) {
  const wrong: string[] = []
  let left = Number.POSITIVE_INFINITY
  let between: () => Promise<unknown> = async () => {}
  const host: ConfigHost = await configHost(
    {
      modules,
      random: withoutPauses,
      wrapBackend: (backend) => {
        const stored = moduleCollectionsOf(backend.store, '')
        return withCall(backend, async (called, work) => {
          if (!called.startsWith('operator_module')) return work()
          left -= 1
          if (left === 0) await between()
          const before = await stored.modules.get('mail')
          // Afterwards an edit that came second may have written already.
          const values = await stored.environments.get('mail/sandbox')
          const answer = await work()
          const after = await stored.modules.get('mail')
          const isSwitch = before?.activeEnvironment !== after?.activeEnvironment
          const isSandbox = after?.activeEnvironment === 'sandbox'
          if (isSwitch && isSandbox && values?.values['sender'] === 'bad') wrong.push(called)
          return answer
        })
      },
    },
    kind,
  )
  return {
    host,
    wrong,
    /** False once `work` makes fewer calls than that. */
    async interrupt(nth: number, first: () => Promise<unknown>, work: () => Promise<unknown>) {
      const begun: Promise<unknown>[] = []
      left = nth
      between = () => {
        const all = first()
        begun.push(all)
        return all
      }
      await work()
      left = Number.POSITIVE_INFINITY
      // The last call may be one beside the request.
      await Promise.all(begun)
      return begun.length > 0
    },
  }
}

const activate = (host: ConfigHost, environment: string): Promise<Reply> =>
  host.change('PUT', '/active-environment', { environment })
const write = (host: ConfigHost, sender: string): Promise<Reply> =>
  host.patch({ config: { sender } }, 'sandbox')

it('values that changed while they were judged are judged again', async () => {
  const seen: unknown[] = []
  const host: ConfigHost = await configHost({
    modules: [
      mailModule({
        async validateActivation({ values }) {
          seen.push(values['sender'])
          if (seen.length === 1) await write(host, 'bad')
          return values['sender'] === 'bad'
            ? new ConfigValidationError('s', 'No.', 'mail.no')
            : null
        },
      }),
    ],
  })
  await write(host, 'good')
  expectProblem(await activate(host, 'sandbox'), 422, 'mail.no')
  expect(seen).toEqual(['good', 'bad'])
  expect((await host.get('/mail')).json()).toMatchObject({
    activeEnvironment: 'production',
    needsRestart: false,
  })
})

eachSampleStore.it('no edit slips between judging and switching', async (kind) => {
  const { host, interrupt, wrong } = await watchedHost(kind)
  let steps = 0
  for (let nth = 1; ; nth += 1) {
    await activate(host, 'production')
    await write(host, 'good')
    const edited: Reply[] = []
    const switched: Reply[] = []
    const happened = await interrupt(
      nth,
      async () => edited.push(await write(host, 'bad')),
      async () => switched.push(await activate(host, 'sandbox')),
    )
    if (!happened) break
    steps += 1
    expect(edited.map(({ status }) => status)).toEqual([200])
    expect([200, 422]).toContain(switched[0]?.status)
    const { activeEnvironment } = (await host.get('/mail')).json()
    expect(activeEnvironment).toBe(switched[0]?.status === 200 ? 'sandbox' : 'production')
  }
  expect(steps).toBeGreaterThan(3)
  expect(wrong).toEqual([])
})

eachSampleStore.it('nor a switch into an edit', async (kind) => {
  const { host, interrupt, wrong } = await watchedHost(kind)
  let steps = 0
  for (let nth = 1; ; nth += 1) {
    await activate(host, 'production')
    await write(host, 'good')
    const edited: Reply[] = []
    const body = {
      config: { sender: 'bad' },
      revision: Number((await host.read('sandbox'))['revision']),
    }
    const happened = await interrupt(
      nth,
      () => activate(host, 'sandbox'),
      async () => edited.push(await host.patch(body, 'sandbox')),
    )
    if (!happened) break
    steps += 1
    expect([200, 409]).toContain(edited[0]?.status)
  }
  expect(steps).toBeGreaterThan(3)
  expect(wrong).toEqual([])
})

/** A call that waits, from when it was made until it may go on. */
function gate() {
  let [arrive, open] = [() => {}, () => {}]
  const made = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let isUsed = false
  return {
    made,
    open: () => open(),
    /** The first caller waits; others pass. */
    async pass(): Promise<boolean> {
      if (isUsed) return false
      isUsed = true
      arrive()
      await opened
      return true
    },
  }
}

it('an edit that read before the mark is not written between mark and switch', async () => {
  const [edit, change] = [gate(), gate()]
  let isArmed = false
  let sender: unknown = 'good'
  const host: ConfigHost = await configHost({
    modules,
    random: withoutPauses,
    wrapBackend: (backend) => {
      const { environments } = moduleCollectionsOf(backend.store, '')
      return withCall(backend, async (called, work) => {
        if (!isArmed) return work()
        if (called === 'operator_modules.update' && (await change.pass())) {
          sender = (await environments.get('mail/sandbox'))?.values['sender']
        }
        if (called !== 'operator_module_environments.update') return work()
        const waited = await edit.pass()
        const answer = await work()
        if (waited) change.open()
        return answer
      })
    },
  })
  await write(host, 'good')
  isArmed = true
  const edited = write(host, 'bad')
  await edit.made
  const activated = activate(host, 'sandbox')
  await change.made
  edit.open()
  expect((await edited).status).toBe(200)
  const switched = await activated
  // The edit is written before the mark or after the switch, or the switch judges what it wrote.
  expect([switched.status, sender]).toEqual([200, 'good'])
})

it('a switch that read before the mark of another one does not take it away', async () => {
  const [late, judged, again] = [gate(), gate(), gate()]
  const armed = { late: false, judged: false, again: false }
  const host: ConfigHost = await configHost({
    modules,
    random: withoutPauses,
    wrapBackend: (backend) =>
      withCall(backend, async (called, work) => {
        if (armed.late && called === 'operator_module_environments.update') await late.pass()
        if (armed.judged && called === 'operator_modules.update') await judged.pass()
        if (armed.again && called === 'operator_modules.get') await again.pass()
        return work()
      }),
  })
  await write(host, 'good')
  armed.late = true
  const first = activate(host, 'sandbox')
  await late.made
  // The module moves, so that the first switch will not be written, whatever becomes of its mark.
  expect((await activate(host, 'production')).status).toBe(200)
  armed.judged = true
  const second = activate(host, 'sandbox')
  await judged.made
  armed.again = true
  late.open()
  await again.made
  await new Promise(setImmediate)
  expect((await write(host, 'bad')).status).toBe(200)
  judged.open()
  expectProblem(await second, 422, 'mail.no')
  again.open()
  expectProblem(await first, 422, 'mail.no')
  expect((await host.get('/mail')).json()).toMatchObject({ activeEnvironment: 'production' })
})

it('a switch that is done clears its own mark alone', async () => {
  let updates = 0
  const host: ConfigHost = await configHost({
    modules,
    wrapBackend: (backend) => {
      const { environments } = moduleCollectionsOf(backend.store, '')
      return withCall(backend, async (called, work) => {
        if (called === 'operator_module_environments.update') updates += 1
        const isClearing = updates === 2 && called.endsWith('environments.update')
        const other = { activation: 'of another switch' }
        if (isClearing) await environments.update('mail/sandbox', { expiresAt: null }, other)
        return work()
      })
    },
  })
  expect((await activate(host, 'sandbox')).status).toBe(200)
  await host.auth.close()
  const { environments } = moduleCollectionsOf(host.backend.store, '')
  expect(updates).toBe(2)
  expect(await environments.get('mail/sandbox')).toMatchObject({ activation: 'of another switch' })
})

it('an edit that finds a mark moves the module on, whatever another process made of it', async () => {
  let isArmed = false
  const host: ConfigHost = await configHost({
    modules,
    wrapBackend: (backend) => {
      const stored = moduleCollectionsOf(backend.store, '')
      return withCall(backend, async (called, work) => {
        if (isArmed && called === 'operator_modules.update') {
          isArmed = false
          const { revision = 0 } = (await stored.modules.get('mail')) ?? {}
          await stored.modules.update('mail', { revision }, { revision: revision + 5 })
        }
        return work()
      })
    },
  })
  const { modules: stored, environments } = moduleCollectionsOf(host.backend.store, '')
  const { revision = 0 } = (await stored.get('mail')) ?? {}
  await environments.update('mail/sandbox', { expiresAt: null }, { activation: 'left' })
  isArmed = true
  expect((await write(host, 'good')).status).toBe(200)
  expect((await stored.get('mail'))?.revision).toBe(revision + 6)
})

it('a mark that a crash left behind keeps no edit and no switch from succeeding', async () => {
  const host = await configHost({ modules })
  const { environments } = moduleCollectionsOf(host.backend.store, '')
  const leave = () =>
    environments.update('mail/sandbox', { expiresAt: null }, { activation: 'left' })
  await leave()
  expect((await write(host, 'good')).status).toBe(200)
  expect((await environments.get('mail/sandbox'))?.activation).toBeNull()
  await leave()
  expect((await activate(host, 'sandbox')).status).toBe(200)
  expect((await write(host, 'better')).status).toBe(200)
})
