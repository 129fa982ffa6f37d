import { describe, expect, it } from 'vitest'
import { isChromiumMissing } from '../../support/hosts/browser.js'
import { consoleRigs, expectAccessible, picture, seeHeading, signIn } from './console-rig.js'
import { agree, proveByApp, seatedAdmin, settled, visit } from './operator-steps.js'

const start = consoleRigs()
const email = 'grace@example.org'

describe.skipIf(isChromiumMissing)('roles at the console, in chromium', () => {
  it('are defined, changed and deleted, of a tenant as well', async () => {
    const rig = await start()
    const { roles } = rig.host.auth.client
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await visit(page, 'Roles')
    await page.getByText('There is no role here yet.').waitFor()
    await expectAccessible(page)
    const save = async (button: string) => {
      await page.getByRole('button', { name: button }).click()
    }
    await page.getByLabel('Name').fill('clerk')
    await page.getByLabel('Permissions of your application').fill('orders.read\n orders.refund\n')
    await save('Define the role')
    await proveByApp(admin)
    await page.getByText('The role clerk is saved.').waitFor()
    expect(await roles.list()).toMatchObject([
      { name: 'clerk', permissions: ['orders.read', 'orders.refund'] },
    ])
    await page.getByRole('link', { name: 'Change clerk' }).click()
    await seeHeading(page, 'Change clerk')
    await page.getByLabel('Permissions of your application').fill('orders.*')
    await save('Save the role')
    await page.getByText('There are no wildcards: name each key.').waitFor()
    await page.getByLabel('Permissions of your application').fill('orders.read')
    await save('Save the role')
    await page.getByText('The role clerk is saved.').waitFor()
    expect(await roles.list()).toMatchObject([{ name: 'clerk', permissions: ['orders.read'] }])
    await settled(page)
    await page.getByLabel('Roles of one tenant').fill('acme')
    await page.getByRole('button', { name: 'Show' }).click()
    await seeHeading(page, 'Roles of end users in the tenant acme')
    await page.getByLabel('Name').fill('chief')
    await save('Define the role')
    await page.getByRole('rowheader', { name: 'chief' }).waitFor()
    expect(await roles.list({ tenantId: 'acme' })).toMatchObject([{ name: 'chief' }])
    await page.getByRole('button', { name: 'Delete chief' }).click()
    await agree(page, 'Delete')
    await page.getByText('There is no role here yet.').waitFor()
    expect(await roles.list({ tenantId: 'acme' })).toEqual([])
    await expectAccessible(page)
  })

  it('open a page to an operator, and close it again', async () => {
    const rig = await start()
    await rig.account('operator', email)
    const theirs = await rig.open('operator', '/users')
    await signIn(theirs, email)
    await theirs.getByText('It needs the permission console.users.read.').waitFor()
    const admin = await seatedAdmin(rig)
    const { page } = admin
    await visit(page, 'Roles')
    await page.getByRole('link', { name: 'Operators', exact: true }).click()
    await seeHeading(page, 'Roles of operators')
    await page.getByLabel('Name').fill('help desk')
    await page.getByLabel('console.users.read').check()
    await picture(page, 'roles')
    await page.getByRole('button', { name: 'Define the role' }).click()
    await proveByApp(admin)
    await page.getByRole('rowheader', { name: 'help desk' }).waitFor()
    await visit(page, 'Users')
    await page.getByRole('link', { name: 'Operators', exact: true }).click()
    await page.getByRole('link', { name: email }).click()
    await page.getByText('Give a role').click()
    await page.getByRole('button', { name: 'Give the role' }).click()
    await page.getByText(`${email} has the role help desk.`).waitFor()
    await theirs.reload()
    await theirs.getByText('There are no accounts yet.').waitFor()
    await settled(page)
    await page.getByLabel('What the operator may do').selectOption('administrator')
    await page.getByRole('button', { name: 'Save the system role' }).click()
    await page.getByText('The system role is administrator.').waitFor()
    await visit(theirs, 'Audit log')
    await theirs.getByRole('table').waitFor()
    await page.getByRole('button', { name: 'Take away the role help desk' }).click()
    await page.getByText('No role is held.').waitFor()
    await page.getByLabel('What the operator may do').selectOption('guest')
    await page.getByRole('button', { name: 'Save the system role' }).click()
    await page.getByText('The system role is guest.').waitFor()
    await theirs.reload()
    await theirs.getByText('It needs the permission console.audit.read.').waitFor()
  })

  it('say on each page which permission is missing', async () => {
    const rig = await start()
    await rig.account('operator', email)
    const page = await rig.open('operator', '/users', { width: 'narrow' })
    await signIn(page, email)
    const needs = {
      Users: 'console.users.read',
      'Service accounts': 'auth.service_accounts.read',
      Roles: 'console.roles.read',
      'Audit log': 'console.audit.read',
    }
    for (const [name, key] of Object.entries(needs)) {
      await visit(page, name)
      await page.getByText(`It needs the permission ${key}.`).waitFor()
      await expectAccessible(page)
    }
  })

  it('say beside a button what is missing: a permission, or a second factor', async () => {
    const rig = await start()
    const id = await rig.account('operator', email)
    await rig.account('client', 'linus@example.org')
    const { roles } = rig.host.auth.operator
    const reader = await roles.define({ name: 'reader', permissions: ['console.users.read'] })
    await roles.bind({ userId: id, roleId: reader.id })
    const page = await rig.open('operator', '/users')
    await signIn(page, email)
    await page.getByText('To change something you need a second factor').waitFor()
    await page.getByRole('link', { name: 'linus@example.org' }).click()
    await page.getByText('It needs the permission console.roles.read.').waitFor()
    await page.getByRole('button', { name: 'Disable …' }).click()
    await agree(page, 'Disable')
    await page.getByText('You may not do this: a permission is missing.').waitFor()
    await roles.define({
      name: 'reader',
      permissions: ['console.users.read', 'console.users.manage'],
    })
    await page.getByRole('button', { name: 'Disable …' }).click()
    await agree(page, 'Disable')
    await page.getByText('Add an authenticator app or a passkey first').waitFor()
    await expectAccessible(page)
    expect((await rig.host.auth.client.users.findByEmail('linus@example.org'))?.enabled).toBe(true)
  })
})
