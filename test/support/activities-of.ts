import type { temporal } from '@temporalio/proto';

type Event = temporal.api.history.v1.IHistoryEvent;
type Payload = { data?: Uint8Array | null } | null | undefined;

/** An activity as a history tells of it: scheduled on a queue, or run within a workflow task. */
export interface CalledActivity {
  activity: string;
  /** What the UI shows. */
  summary: string;
}

/** Activities of a run in the order in which they were asked for, or had answered within a workflow task. */
export const activitiesOf = (events: readonly Event[] | null | undefined): CalledActivity[] =>
  (events ?? []).flatMap((event) => {
    const activity = event.activityTaskScheduledEventAttributes?.activityType?.name ?? ranHere(event);
    return activity == null ? [] : [{ activity, summary: jsonOf<string>(event.userMetadata?.summary) ?? '' }];
  });

/** The SDK's own marker of a local activity. */
const ranHere = ({ markerRecordedEventAttributes: marker }: Event): string | undefined =>
  marker?.markerName === 'core_local_activity'
    ? jsonOf<{ activity_type: string }>(marker.details?.['data']?.payloads?.[0])?.activity_type
    : undefined;

const jsonOf = <T>(payload: Payload): T | undefined =>
  payload?.data == null ? undefined : (JSON.parse(Buffer.from(payload.data).toString()) as T);
