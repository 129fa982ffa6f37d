import { actionButton } from '../action-button.ts'
import { browserName } from '../browser-text.ts'
import type { Child } from '../element.ts'
import type { PageContext } from '../page.ts'
import { section } from '../section.ts'
import { table } from '../table.ts'
import { timeText } from '../time-text.ts'

/** The browsers and apps that skip the second factor. */
export function devicesSection({ client, announce }: PageContext): HTMLElement {
  return section('Trusted devices', async (body, refresh) => {
    const [{ items }, { totp, passkeys }] = await Promise.all([
      client.call('GET /devices'),
      client.call('GET /mfa'),
    ])
    const hasFactor = totp.enrolled || passkeys > 0
    const removal = (deviceId: string, name: string) =>
      actionButton({
        label: 'Remove',
        attributes: { 'aria-label': `Remove ${name}` },
        run: async () => {
          await client.call('DELETE /devices/{deviceId}', { deviceId })
          announce('The device is asked for the second factor again.')
          refresh()
        },
      })
    body.append(
      table({
        caption: 'Devices that skip the second factor',
        heads: ['Device', 'Last used', 'Until', 'Change'],
        rows: items.map(({ deviceId, name, current, lastUsedAt, expiresAt }): readonly Child[] => [
          current ? `${name} (this one)` : name,
          timeText(lastUsedAt),
          timeText(expiresAt),
          removal(deviceId, name),
        ]),
        none: hasFactor
          ? 'Every sign-in asks for the second factor.'
          : 'Once you have a second factor, a browser that you trust can skip it.',
      }),
    )
    if (!hasFactor || items.some(({ current }) => current)) return
    body.append(
      actionButton({
        label: 'Trust this browser',
        run: async () => {
          const name = browserName(navigator.userAgent) ?? 'Browser'
          await client.call('POST /devices', { name })
          announce('This browser skips the second factor from now on.')
          refresh()
        },
      }),
    )
  })
}
