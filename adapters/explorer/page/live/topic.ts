import type { Topic } from './network-event.ts'

/** What an event is about, by its type. */
export function topicOf(type: string): Topic {
  if (/refused|denied|failed/.test(type)) return 'refused'
  if (/posture/.test(type)) return 'posture'
  if (/circuit/.test(type)) return 'circuits'
  if (/router|link|terminator/.test(type)) return 'routers'
  if (/access/.test(type)) return 'access'
  if (/session|authenticat|login/.test(type)) return 'sessions'
  return 'changes'
}
