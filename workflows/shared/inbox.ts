/** First in, first out. Message handlers and completions put events in; one loop takes them out. */
export interface Inbox<Event> {
  put: (event: Event) => void;
  take: () => Event | undefined;
  isEmpty: () => boolean;
}

export const newInbox = <Event>(): Inbox<Event> => {
  const events: Event[] = [];
  return {
    put: (event) => void events.push(event),
    take: () => events.shift(),
    isEmpty: () => events.length === 0,
  };
};
