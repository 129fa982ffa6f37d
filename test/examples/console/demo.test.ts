import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../support/hosts/free-port.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { listen } from '../../support/hosts/running-host.js'
import { StartedProgram } from '../../support/hosts/started-program.js'
import { cloneRepository } from '../../support/package/packed-package.js'
import { getNamed } from './named-host.js'

const password = 'correct horse battery staple'
const isUp = /password +(\S+)[\s\S]*Stop with Ctrl-C/

describe('the demo on a fresh clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-demo-'))
  const started: StartedProgram[] = []
  let clone: string
  let port: number
  let first: StartedProgram

  function start(at: number, program: string, ...args: readonly string[]): StartedProgram {
    const one = new StartedProgram(program, args, { cwd: clone, env: { PORT: String(at) } })
    started.push(one)
    return one
  }
  /** Once more, of what `npm run demo` has built. */
  const again = (at: number) => start(at, process.execPath, 'examples/console/main.ts')

  beforeAll(async () => {
    clone = cloneRepository(folder)
    port = await freePort()
    first = start(port, 'npm', 'run', 'demo')
    await first.printed(isUp)
  })
  afterAll(() => {
    for (const one of started) one.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  it('serves both surfaces, and prints its operator and mails', async () => {
    const client = `http://localhost:${port}`
    const operator = `http://operator.localhost:${port}`
    expect(first.output).toContain(operator)
    expect(first.output).toMatch(
      /Loading the embedded database[\s\S]+Migrating it[\s\S]+Making the first operator[\s\S]+password/,
    )
    expect((await getNamed(operator, '/v1/auth/operator/options')).status).toBe(200)
    for (const page of ['/', '/client.js', '/operator.js']) {
      expect((await getNamed(client, page)).status).toBe(200)
    }
    const send = httpClient(`${client}/v1/auth/client`)
    await send('POST', '/register', { body: { email: 'ada@example.org', password } })
    await first.printed(
      /ada@example\.org: Confirm[\s\S]*\nhttp:\/\/localhost:\d+\/verify-email#token=/,
    )
    expect((await getNamed(client, '/demo/mails')).text).toContain('ada@example.org')
  })

  it('says that its port is taken, stops by Ctrl-C and keeps its data', async () => {
    const [, shown = ''] = await first.printed(isUp)
    await first.stop('SIGINT')
    expect(first.output).toMatch(/Stopped\.\s*$/)
    const other = await listen(createServer())
    const late = again(Number(new URL(other.url).port))
    expect(await late.ended()).toBe(1)
    expect(late.output).toMatch(/Port \d+ is taken\. Set PORT to a free one\./)
    await other.close()
    const second = again(port)
    expect((await second.printed(isUp))[1]).toBe(shown)
    await second.stop('SIGINT')
  })
})
