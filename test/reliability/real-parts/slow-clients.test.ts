import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { startHost } from '../host.js'
import { hostAt } from '../host-client.js'
import { lineFrom } from '../moving-clock.js'
import { newKey } from '../replicas.js'

const program = '/usr/bin/slowhttptest'
const found = existsSync(program)
const connections = 300

/** Each of many connections sends a few bytes a second, of the head or of the body. */
const attacks = {
  'heads that never end': ['-H', '-t', 'GET'],
  'bodies that never end': ['-B', '-t', 'POST', '-s', '8192', '-f', 'application/json'],
} as const

describe.skipIf(!found)(found ? 'slow clients' : 'slow clients (slowhttptest not found)', () => {
  it.each(Object.entries(attacks))('with %s keep no other caller waiting', async (_, how) => {
    const options = { sweep: false, trustProxy: 1 } as const
    const config = { clock: lineFrom(Date.now()), options, planted: null } as const
    const running = await startHost(memory(), { current: newKey() }, config)
    const host = hostAt(running.url)
    onTestFinished(async () => {
      host.hangUp()
      await running.close()
    })
    const login = await host.newLogin()
    const size = ['-c', `${connections}`, '-r', `${connections}`, '-i', '1', '-x', '8', '-l', '6']
    const url = `${running.url}/v1/auth/client/login`
    const attack = spawn(program, [...how, ...size, '-u', url], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const said = text(attack.stdout)
    const over = once(attack, 'exit')
    onTestFinished(async () => {
      attack.kill('SIGKILL')
      await over
    })
    let answered = 0
    const { email, password } = login
    while (attack.exitCode === null) {
      expect((await host.me(login.accessToken)).status).toBe(200)
      const body = { email, password }
      const from = `10.3.${answered >> 8}.${answered & 255}`
      expect((await host.send('POST', '/v1/auth/client/login', { body, from })).status).toBe(200)
      answered += 1
    }
    const lines = stripVTControlCharacters(await said).matchAll(/^connected: *(\d+)$/gm)
    const most = Math.max(...[...lines].map(([, count]) => Number(count)))
    expect(most).toBe(connections)
    // What never arrived whole asked for nothing.
    const { events } = await host.control('state', null)
    expect(events['login.succeeded']).toBe(answered + 1)
    expect(events['login.failed'] ?? 0).toBe(0)
    expect(answered).toBeGreaterThan(5)
  })
})
