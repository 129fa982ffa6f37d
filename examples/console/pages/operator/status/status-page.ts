import type { Durations, Minute, StatusReply } from '../../../host/status-reply.ts'
import { element } from '../../shared/element.ts'
import { hostCall } from '../../shared/host-call.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { withPermission } from '../shared/with-permission.ts'
import { percentile } from './percentile.ts'
import { plot } from './plot.ts'

const minuteMs = 60_000

/** What one process of the host has measured in the last hour. */
export const statusPage: OperatorPage = {
  path: '/status',
  title: 'Status',
  audience: 'user',
  render: withPermission<OperatorContext>('console.status.read', async (main, context) => {
    const status = await statusOf(context)
    const plots = element('div', { class: 'plots' }, plotsOf(status.minutes))
    const about = element('p', { class: 'notice' }, aboutText(status))
    const refresh = async () => {
      const now = await statusOf(context)
      about.textContent = aboutText(now)
      plots.replaceChildren(...plotsOf(now.minutes))
      context.announce('The figures are of this moment.')
    }
    const again = element('button', { type: 'button' }, 'Refresh')
    again.addEventListener('click', () => {
      refresh().catch(() => context.reload())
    })
    main.append(about, element('div', { class: 'buttons' }, again), plots)
  }),
}

function statusOf({ operator }: OperatorContext): Promise<StatusReply> {
  return hostCall(operator, 'GET', '/status')
}

function aboutText({ pid, startedAt }: StatusReply): string {
  const since = new Date(startedAt).toLocaleString('en', {
    dateStyle: 'medium',
    timeStyle: 'short',
  })
  return `These are the figures of process ${pid} alone, since ${since}, for an hour at most. Other processes of this host keep their own.`
}

function plotsOf(known: readonly Minute[]): readonly HTMLElement[] {
  const minutes = withoutGaps(known)
  const times = minutes.map(({ at }) => at)
  const line = (name: string, value: (minute: Minute) => number | null) => {
    return { name, values: minutes.map(value) }
  }
  return [
    plot({
      title: 'Sign-ins a minute',
      unit: 'sign-ins',
      hint: 'Complete sign-ins by surface, and those that failed on either.',
      times,
      series: [
        line('Client', ({ signIns }) => signIns.client),
        line('Operator', ({ signIns }) => signIns.operator),
        line('Failed', ({ signIns }) => signIns.failed),
      ],
    }),
    plot({
      title: 'Refreshes a minute',
      unit: 'refreshes',
      hint: 'How attempts to renew a session ended. A replay is an older token used again, which ends the session.',
      times,
      series: [
        line('Renewed', ({ refreshes }) => refreshes.renewed),
        line('Refused', ({ refreshes }) => refreshes.refused),
        line('Failed', ({ refreshes }) => refreshes.failed),
        line('Replays', ({ refreshes }) => refreshes.replays),
      ],
    }),
    plot({
      title: 'Passwords that wait',
      unit: 'passwords',
      hint: 'To check or to store a password is slow on purpose, so only a few are worked on at a time. How many waited for their turn, looked at every ten seconds, and how many were refused.',
      times,
      series: [
        line('Waiting', ({ hashes }) => hashes.waiting),
        line('Refused', ({ hashes }) => hashes.refused),
      ],
    }),
    plot({
      title: 'Slowest of a hundred (p99)',
      unit: 'ms',
      hint: 'Ninety-nine of a hundred took less. The figures are estimates, and below 5 ms a guess.',
      times,
      series: [
        line('Requests', ({ requests }) => slowest(requests)),
        line('Wait of a password', ({ hashWaits }) => slowest(hashWaits)),
      ],
    }),
    plot({
      title: 'Expired tokens that are still stored',
      unit: 'tokens',
      hint: 'Refresh tokens that have expired and are not removed yet. Only the process that removes them knows how many.',
      times,
      series: [line('Refresh tokens', ({ backlog }) => backlog)],
    }),
  ]
}

function slowest(durations: Durations): number | null {
  const seconds = percentile(durations, 0.99)
  return seconds === null ? null : seconds * 1000
}

/** Every minute from the first to the last, since the process may have slept. */
function withoutGaps(minutes: readonly Minute[]): readonly Minute[] {
  const [first, last] = [minutes[0], minutes.at(-1)]
  if (first === undefined || last === undefined) return []
  const count = (last.at - first.at) / minuteMs + 1
  return Array.from({ length: count }, (_, index) => {
    const at = first.at + index * minuteMs
    return minutes.find((minute) => minute.at === at) ?? { ...nothing, at }
  })
}

const nothing: Omit<Minute, 'at'> = {
  signIns: { client: 0, operator: 0, failed: 0 },
  refreshes: { renewed: 0, refused: 0, failed: 0, replays: 0 },
  hashes: { waiting: 0, refused: 0 },
  requests: { bounds: [], counts: [] },
  hashWaits: { bounds: [], counts: [] },
  backlog: null,
}
