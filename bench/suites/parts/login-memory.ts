import type { Context } from '../../harness/context.js'
import { spreadText } from '../../harness/statistics.js'
import type { Figure, SuiteTable } from '../../harness/suite.js'
import {
  isTooBusy,
  type LoginHost,
  loginBytes,
  loginHostOf,
  mustSucceed,
  signInOneByOne,
  stopHost,
} from './login-host.js'

const mebibyte = 2 ** 20

interface LoginMemory {
  readonly table: SuiteTable
  readonly figures: readonly Figure[]
}

/** Peak memory during logins at sixteen connections, above what the warm process has without them. */
export async function loginMemory(context: Context): Promise<LoginMemory> {
  const figures: Figure[] = []
  const cases = ['argon2', '@node-rs/argon2'].flatMap((binding) =>
    ['4', '16'].map((threads) => ({ binding, threads })),
  )
  for (const { binding, threads } of context.smoke ? [] : cases) {
    context.progress(`memory of ${binding} with ${threads} threads`)
    const env = { UV_THREADPOOL_SIZE: threads }
    const host = await loginHostOf(context, { kind: 'postern', binding }, env)
    const values = host === null ? [] : await peaks(context, host)
    const what = `${binding}, UV_THREADPOOL_SIZE=${threads}: memory that 16 logins at once add`
    figures.push({ goal: 'P7', what, values, unit: 'MiB', atMost: 64 })
  }
  return {
    figures,
    table: {
      title: 'Memory that sixteen logins at once add, in MiB',
      head: ['binding and threads', 'peak above the warm process'],
      rows: figures.map(({ what, values }) => [what.split(':')[0] ?? what, spreadText(values)]),
      note: 'With the default number of hashes at a time.',
    },
  }
}

async function peaks(context: Context, host: LoginHost): Promise<readonly number[]> {
  await signInOneByOne(host, context.requests(16))
  const values: number[] = []
  for (let round = 0; round < context.rounds; round += 1) {
    const before = await host.child.ask<number>('watchMemory')
    await host.logins.slice({
      requests: context.requests(48),
      connections: 16,
      next: (_, request) => loginBytes(host, request),
      seen: (reply) => {
        if (!isTooBusy(reply)) mustSucceed(reply)
      },
    })
    values.push(((await host.child.ask<number>('mostMemory')) - before) / mebibyte)
  }
  await stopHost(host)
  return values
}
