import { FilterError } from './filter-error.ts'

// Every part ends where the next one begins with another kind of character.
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** 1970-01-01, counted in days from 0000-03-01. */
const EPOCH_DAYS = 719_468

/** An RFC 3339 date and time in epoch milliseconds; smaller fractions are cut off. Error: `type` for anything else. */
export function instantOf(text: string): number {
  const parts = RFC3339.exec(text)
  if (parts === null) throw notAnInstant(text)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number)
  const milliseconds = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const [offsetHour, offsetMinute] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)]
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  const isTime = Math.max(hour, offsetHour) < 24 && Math.max(minute, second, offsetMinute) < 60
  if (!isDate || !isTime) throw notAnInstant(text)
  const local = daysSinceEpoch(year, month, day) * DAY + hour * HOUR + minute * MINUTE + second * SECOND + milliseconds
  const offset = offsetHour * HOUR + offsetMinute * MINUTE
  return parts[8] === '-' ? local + offset : local - offset
}

function daysInMonth(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeapYear ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0)
}

/** Counts years from March, so that the leap day is the last of its year and 153 days make five months. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return 365 * years + leapDays + dayOfYear - EPOCH_DAYS
}

function notAnInstant(text: string): FilterError {
  return new FilterError('type', `could not parse datetime (${text}), expected RFC 3339 such as 2006-01-02T15:04:05Z`)
}
