import type { HostHooks, HostRules } from '../ports/host-rules.ts'
import type { Logger } from '../ports/runtime.ts'

/** Asks the hooks of a host; one that fails refuses, for what it would have said is not known. */
export function askedHost(hooks: HostHooks, logger: Logger): HostRules {
  const asked = async (hook: keyof HostHooks, ask: () => boolean | Promise<boolean> | undefined): Promise<boolean> => {
    try {
      return (await ask()) ?? true
    } catch (error) {
      logger.error('a hook of the host failed: what it was asked about is refused', { hook, error: String(error) })
      return false
    }
  }
  return {
    admitsLogin: (attempt) => asked('beforeLogin', () => hooks.beforeLogin?.(attempt)),
    admitsEnrollment: (attempt) => asked('beforeEnroll', () => hooks.beforeEnroll?.(attempt)),
  }
}
