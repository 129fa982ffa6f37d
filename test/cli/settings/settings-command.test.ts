import { createAuth } from 'postern'
import { ConfigValidationError, defineModule } from 'postern/config'
import { expect, it, onTestFinished } from 'vitest'
import { configured } from '../../support/cli/configured.js'

const mail = defineModule({
  name: 'mail',
  environments: ['production', 'sandbox'],
  fields: [
    { key: 'sender', label: 'Sender', type: 'FieldString', group: 'Mail' },
    { key: 'password', label: 'Password', type: 'FieldSecret', group: 'Mail' },
    { key: 'token', label: 'Token', type: 'FieldString', secret: true, group: 'Mail' },
    {
      ...{ key: 'hooks', label: 'Hooks', type: 'FieldRecordList', group: 'Mail' },
      items: [{ key: 'key', label: 'Key', type: 'FieldSecret' }],
    },
  ],
  validatePatch({ values }) {
    if (values['sender'] !== 'wrong') return
    throw new ConfigValidationError('sender', 'The sender is wrong.', 'mail.sender_wrong')
  },
})

async function host(env: Readonly<Record<string, string>> = {}) {
  const place = await configured({ modules: [mail] }, { env })
  await place.run('migrate', '--apply')
  const auth = await createAuth(place.options)
  onTestFinished(() => auth.close())
  return { ...place, auth }
}

it('shows settings, what is stored and where the rest comes from', async () => {
  const { run } = await host()
  await run('settings', 'set', 'accessTokenTTL=5m')
  const all = await run('settings', 'get')
  expect(all.out).toContain('accessTokenTTL=5m\n')
  expect(all.out.split('\n').length).toBeGreaterThan(60)
  expect(all.err).toMatch(/^production, revision 2$/m)
  // What is not stored shows the value that is in force.
  expect(all.out).toContain('passwordMinLength=(default: 15)\n')
  expect(all.out).toContain('googleClientSecret=(default)\n')
  const one = await run('settings', 'get', 'accessTokenTTL')
  expect(one).toEqual({ code: 0, out: 'accessTokenTTL=5m', err: all.err })
  const json = JSON.parse((await run('settings', 'get', '--json')).out)
  expect(json).toMatchObject({ module: 'auth', revision: 2, config: { accessTokenTTL: '5m' } })
  const unknown = await run('settings', 'get', 'bogus')
  expect([unknown.code, unknown.err]).toEqual([
    1,
    expect.stringContaining('The module auth has no field "bogus".'),
  ])
})

it('changes them by the rules of an administrator, says what it passes by, and is recorded', async () => {
  const { run, auth } = await host()
  const { code, out, err } = await run('settings', 'set', 'accessTokenTTL=5m', 'backupCodeCount=8')
  expect([code, out]).toEqual([0, 'production has revision 2.'])
  expect(err).toContain('No permission is asked: the command does not call the authorizer.')
  expect(err).not.toContain('Open sessions')
  const [newest] = await auth.config.history('auth', 'production')
  expect(newest).toMatchObject({ revision: 2, writtenBy: 'cli' })
  const refused = await run('settings', 'set', 'backupCodeCount=21')
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err).toContain('backupCodeCount')
  expect((await auth.config.view('auth')).config).toMatchObject({ backupCodeCount: '8' })
})

it('works on other modules and environments, and asks their validators', async () => {
  const { run, auth } = await host()
  const at = ['--module', 'mail', '--environment', 'sandbox']
  expect((await run('settings', 'set', 'sender=a', ...at)).out).toBe('sandbox has revision 2.')
  expect((await run('settings', 'get', 'sender', ...at)).out).toBe('sender=a')
  const refused = await run('settings', 'set', 'sender=wrong', ...at)
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining('sender: The sender is wrong.'),
  ])
  expect((await run('settings', 'set', 'sender=', ...at)).code).toBe(0)
  expect((await auth.config.view('mail', 'sandbox')).config).toEqual({ sender: '' })
  expect((await run('settings', 'get', '--module', 'nothing')).code).toBe(1)
})

it('refuses a change that another one overtook', async () => {
  const { run } = await host()
  await run('settings', 'set', 'backupCodeCount=8')
  const late = await run('settings', 'set', 'backupCodeCount=7', '--revision', '1')
  expect([late.code, late.err]).toEqual([1, expect.stringContaining('config.revision_conflict')])
  expect((await run('settings', 'set', 'backupCodeCount=7', '--revision', '2')).code).toBe(0)
  expect((await run('settings', 'set', 'backupCodeCount=7', '--revision', 'x')).code).toBe(2)
})

it('says of an element that is not there how to create one', async () => {
  const { run } = await host({ KEY: 'hidden' })
  const refused = await run('settings', 'set', 'hooks.eu.key=env:KEY', '--module', 'mail')
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(
      'hooks.eu.key: the list has no such element, and this command creates none;',
    ),
  ])
  expect(refused.err).not.toContain('retry')
})

it('takes secrets from the environment alone, and never shows them', async () => {
  const secret = 'hidden-7f3a'
  const { run, auth } = await host({ MAIL_PASSWORD: secret, EMPTY: '' })
  const at = ['--module', 'mail']
  for (const word of [`password=${secret}`, `token=${secret}`, `hooks.eu.key=${secret}`]) {
    const { code, out, err } = await run('settings', 'set', word, ...at)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('is a secret, which no argument may hold')
    expect(err).not.toContain(secret)
  }
  expect((await auth.config.view('mail')).secretsSet).toEqual([])
  expect((await run('settings', 'set', 'password=env:MAIL_PASSWORD', ...at)).code).toBe(0)
  expect((await auth.config.read(mail)).password).toBe(secret)
  const empty = await run('settings', 'set', 'password=env:EMPTY', ...at)
  expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('EMPTY is empty')])
  expect((await auth.config.read(mail)).password).toBe(secret)
  const shown = [await run('settings', 'get', ...at), await run('settings', 'get', '--json', ...at)]
  expect(JSON.stringify(shown)).not.toContain(secret)
  expect(shown[0]?.out).toContain('password=(a secret is set)')
  expect((await run('settings', 'set', 'password=', ...at)).code).toBe(0)
  expect((await run('settings', 'set', 'password=env:NOTHING', ...at)).code).toBe(2)
})

it.each([
  ['nothing', []],
  ['another word', ['reset']],
  ['no settings', ['set']],
  ['a key without a value', ['set', 'backupCodeCount']],
  ['a value without a key', ['set', '=8']],
])('refuses %s', async (_, words) => {
  const { run } = await host()
  expect((await run('settings', ...words)).code).toBe(2)
})

it('says that a second factor which is demanded ends no session', async () => {
  const { run } = await host()
  const { code, err } = await run('settings', 'set', 'mfaPolicyOperator=required')
  expect(code).toBe(0)
  expect(err).toMatch(/Open sessions go on .* auth\.terminateAllSessions\(\) ends them\.$/)
})
