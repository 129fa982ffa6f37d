import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const source = JSON.stringify(new URL('../../src/system/loggers.ts', import.meta.url).href)
const hooks = fileURLToPath(new URL('../support/module-hooks.mjs', import.meta.url))

it('writes one JSON line per message to standard error, and no debug lines', async () => {
  const script = `
    import { consoleLogger, createRequestContext, safeLogger } from ${source}
    let now = Date.UTC(2026, 0, 1)
    const context = createRequestContext('x-request-id', () => 'made', {
      clock: Date,
      timeoutMs: 15_000,
    })
    const of = (id) => ({ header: () => id })
    const log = safeLogger(consoleLogger({ now: () => now++ }), context)
    log.debug('unseen')
    log.info('started')
    log.warn('a\\nforged {"level":"error"} line\\u001b[31m', { path: 'x\\r\\ny', count: 2 })
    await Promise.all([
      context.inRequest('getMe', of('a'), async () => {
        await new Promise((resolve) => setImmediate(resolve))
        log.error('failed', { error: 'TypeError' })
      }),
      context.inRequest('logout', of('b'), async () =>
        log.info('gone', { operation: 'other' }),
      ),
    ])
    log.info('idle')
    log.error('kept', { time: 1, level: 'debug', source: 'other', message: 'replaced', detail: 'd' })
    log.warn('\\u007fa\\u0080\\u0085\\u009b31m\\u009f\\u00a0\\u2028b\\u2029\\u202a', { path: '\\u009d' })
  `
  const args = ['--import', hooks, '--input-type=module', '--eval', script]
  const { stdout, stderr } = await run(process.execPath, args)
  expect(stdout).toBe('')
  const line = (level: string, ms: number, rest: object) => ({
    time: `2026-01-01T00:00:00.00${ms}Z`,
    ...{ level, source: 'postern' },
    ...rest,
  })
  expect(
    stderr
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text)),
  ).toEqual([
    line('info', 0, { message: 'started' }),
    line('warn', 1, {
      message: 'a\nforged {"level":"error"} line\u001b[31m',
      path: 'x\r\ny',
      count: 2,
    }),
    line('info', 2, { operation: 'logout', requestId: 'b', message: 'gone' }),
    line('error', 3, {
      ...{ operation: 'getMe', requestId: 'a' },
      ...{ message: 'failed', error: 'TypeError' },
    }),
    line('info', 4, { message: 'idle' }),
    line('error', 5, { message: 'kept', detail: 'd' }),
    line('warn', 6, {
      message: '\u007fa\u0080\u0085\u009b31m\u009f\u00a0\u2028b\u2029\u202a',
      path: '\u009d',
    }),
  ])
  expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
  // What is no control character stays readable.
  expect(stderr).toContain('\u00a0')
})
