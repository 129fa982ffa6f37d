import { randomBytes } from 'node:crypto'
import { AuthError, OptionsError } from 'postern'
import { describe, expect, it } from 'vitest'
import { commands } from '../../../src/cli/commands.js'
import type { Command, Surroundings } from '../../../src/cli/frame/command.js'
import { Refusal } from '../../../src/cli/frame/refusal.js'
import { run } from '../../../src/cli/frame/run.js'
import { terminal } from '../../support/cli/terminal.js'

/** Runs a command that does what the test gives. */
async function ran(does: Command['run'], ...args: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const command: Command = { help: 'the help', flags: { tries: { type: 'string' } }, run: does }
  const surroundings: Surroundings = {
    ...{ cwd: '/', env: {}, ask: null, now: () => 0, nodeVersion: '24.0.0', randomBytes },
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  }
  const entry = { name: 'try', summary: 'tries', load: async () => command }
  const code = await run({ commands: [entry], version: '1.2.3' }, args, surroundings)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const fails = (error: unknown) => () => Promise.reject(error)
const never = fails(new Error('it was not to run'))

describe('postern', () => {
  it('lists its commands on request, and as a mistake without any', async () => {
    const { run: postern } = await terminal()
    const asked = await postern('help')
    expect(asked.code).toBe(0)
    for (const { name, summary } of commands) {
      expect(asked.out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'))
    }
    expect(await postern('--help')).toEqual(asked)
    expect(await postern()).toEqual({ code: 2, out: '', err: asked.out })
    const unknown = await postern('frobnicate')
    expect([unknown.code, unknown.out]).toEqual([2, ''])
    expect(unknown.err).toBe(`There is no command "frobnicate".\n\n${asked.out}`)
  })

  it('says its version', async () => {
    expect(await ran(never, '--version')).toEqual({ code: 0, out: '1.2.3', err: '' })
  })

  it.each(commands)('explains $name on one screen', async ({ name }) => {
    const { run: postern } = await terminal()
    const { code, out } = await postern('help', name)
    expect(code).toBe(0)
    expect(await postern(name, '--help')).toEqual({ code, out, err: '' })
    const lines = out.split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(out).toContain(`Usage: postern ${name}`)
  })

  it.each(commands)('explains each flag of $name', async ({ load }) => {
    const { help, flags } = await load()
    expect(Object.keys(flags).filter((flag) => !help.includes(`--${flag}`))).toEqual([])
  })
})

describe('a command', () => {
  it('gets its flags and words', async () => {
    const { code, out } = await ran(
      async ({ flags, words, json, out: write }) => {
        write(JSON.stringify({ flags, words, json }))
        return 1
      },
      ...['try', 'one', '--tries', '3', '--json', 'two'],
    )
    expect(code).toBe(1)
    const flags = { tries: '3', json: true }
    expect(JSON.parse(out)).toEqual({ flags, words: ['one', 'two'], json: true })
  })

  it('does not run with a flag that it does not know', async () => {
    const { code, out, err } = await ran(never, 'try', '--bogus')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain("Unknown option '--bogus'")
    expect(err).toContain('postern help try lists the options.')
  })

  it.each([
    ['a refusal', new Refusal('Not this one.'), 1, 'Not this one.'],
    ['a wrong call', new Refusal('Not so.', 2), 2, 'Not so.'],
    [
      'a wrong option',
      new OptionsError('keys', 'must be given'),
      2,
      'createAuth: option "keys" must be given',
    ],
    ['a refusal of the library', new AuthError('email_taken'), 1, 'email_taken'],
    ['a failing store', new AuthError('service_unavailable'), 3, ''],
    [
      'an error, with its cause',
      new Error('no answer', { cause: new Error('ECONNREFUSED') }),
      3,
      'no answer\n  ECONNREFUSED',
    ],
    ['what is no error', 'odd', 3, 'odd'],
  ])('ends by %s with its code and message', async (_, error, code, message) => {
    const plain = await ran(fails(error), 'try')
    expect([plain.code, plain.out]).toEqual([code, ''])
    expect(plain.err).toContain(message)
    expect(plain.err).not.toMatch(/^\s+at /m)
    const json = await ran(fails(error), 'try', '--json')
    expect([json.code, json.err]).toEqual([code, ''])
    expect(JSON.parse(json.out)).toEqual({ error: plain.err })
  })
})
