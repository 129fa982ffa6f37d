import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const module = new URL('../../src/system/console-logger.ts', import.meta.url).href
const hooks = fileURLToPath(new URL('../support/module-hooks.mjs', import.meta.url))

it('writes one JSON line per message to standard error, and no debug lines', async () => {
  const script = `
    import { consoleLogger as log } from ${JSON.stringify(module)}
    log.debug('unseen')
    log.info('started')
    log.warn('a\\nforged {"level":"error"} line\\u001b[31m', { path: 'x\\r\\ny', count: 2 })
    log.error('failed', { error: 'TypeError' })
  `
  const args = ['--import', hooks, '--input-type=module', '--eval', script]
  const { stdout, stderr } = await run(process.execPath, args)
  expect(stdout).toBe('')
  const source = 'postern'
  expect(
    stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { level: 'info', source, message: 'started' },
    {
      level: 'warn',
      source,
      message: 'a\nforged {"level":"error"} line\u001b[31m',
      path: 'x\r\ny',
      count: 2,
    },
    { level: 'error', source, message: 'failed', error: 'TypeError' },
  ])
  expect(stderr).not.toContain('\u001b')
})
